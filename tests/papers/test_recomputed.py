"""Every number that a sentence shows, once more: NumPy and SciPy on the tables of `published/`,
without any rule of the package.

A `printed` one is quoted from a paper, in all but the reasons as the ledger has it; all others are
computed here. A new sentence with a number fails until its numbers stand here too: those of a
reason in `RECOMPUTED`, in their order; those of any other in `TOLD`, a tuple for each sentence.
"""

import csv
import itertools
import json
import math
import re

import numpy as np
import pytest
import yaml
from scipy import optimize, special, stats

from judged import statistics_of
from layerwise.engine.answers import Interval
from layerwise.engine.central import judge_central, read_central
from layerwise.engine.seen import SeenTrained
from layerwise.engine.seen import told as sentences
from layerwise.papers.across.together import PAPERS

NUMBER = re.compile(r"(?<![\w.\-^(])(?<!L/)\(?([-+]?\d+(?:\.\d+)?)(?![\w(^])")
# The layers of a transition; the number of a paper or a figure.
NO_NUMBER = re.compile(r"\bL\d+-\d+|\b([Pp]aper|[Ff]igure|Finding)s? \d+( and \d+)?")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
Z = stats.norm.ppf(0.975)

LLAMA = "Results/llama/llama3_cross_validation_20260102_235626.json"
TEMPLATE = "Results/llama/llama3_instruct_template_20260103_000840.json"
APERTUS = "Results/apertus/apertus_cross_validation_20260103_010455.json"
GEMMA = "Results/gemma/gemma_cross_validation_20260103_011230.json"
PYTHIA = "Results/pythia/option_b_pair_level_20260102_142148.json"
PYTHIA_UA = "Results/pythia/pythia_6.9b_ua_results_20260102_002828.json"
BINS = "Results/pythia/option_a_bins_20260102_140002.json"
LAYERS = "Results/pythia/layer_analysis_20260102_122534.json"
SCALING = "Results/pythia/pythia_scaling_20260102_131212.json"
SWEEP = "paper3/Results/pythia_family_NO_FINAL_LN_20260105_174820.json"
HUNT = "paper3/Results/high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
GPT2 = "paper3/Results/gpt2_layernorm_validation_20260105_150306.csv"
SPECTRAL = "paper3/Results/restriction_map_spectral_20260105_202448.json"
TRACES = "paper3/Results/H4_v2_validation_20260106_015547.json"
EXTENDED = "paper3/Results/H4_v2_extended_20260106_012606.json"
CROSS = "paper3/Results/l_star_cross_heritage_20260106_104357.json"
BENCHMARK = "paper3/Results/thermodynamic_benchmark_20260105_141034.csv"
TWINS = "paper3/Results/twin_test_results_20260105_160237.csv"
FOUR = "paper3/Results/4model_validation_results.json"
SIGNS = "paper3/Results/l_star_sign_change_20260106_111315.json"
INPUTS = "paper3/Results/input_dependency_thermodynamics.json"
BOOTSTRAP = "Results/pythia/bootstrap_ci_20260102_132830.json"
PHASES = "Results/PHASE_SUMMARY.csv"
CLASSES = "extended_results/data/category_classification.csv"
CONTROL = "Results/neutral_control_test_results.json"
PROFILE = "paper3/Results/anisotropy_results_pythia.json"
PAPER1 = {
    "gemma": "Results/results_gemma_20251231_142425.json",
    "llama": "Results/results_llama_20251231_142705.json",
    "mistral": "Results/results_mistral_20251231_143700.json",
    "apertus": "Results/results_apertus_20251231_150219.json",
}
NEUTRAL = (
    "ground_truth_nonnumeric",
    "tech_philosophy",
    "lifestyle",
    "business",
    "scientific_facts",
)


@pytest.fixture(scope="module")
def tables(root):
    """{file: {key: value}} of every table; in place of a file, `small`: the small models."""
    by_file = {}
    for path in sorted((root / "published").glob("*.csv")):
        with path.open(newline="") as lines:
            rows = csv.DictReader(lines)
            if rows.fieldnames == ["file", "key", "value"]:
                for row in rows:
                    cells = by_file.setdefault(row["file"], {})
                    try:
                        cells[row["key"]] = json.loads(row["value"])
                    except ValueError:
                        cells[row["key"]] = row["value"]
    return by_file | {"small": small_models(root, "numeric")}


@pytest.fixture(scope="module")
def ledger(root):
    """{claim: its row in the ledger}, with whether the published material denies it."""
    by_id = {}
    for folder in sorted((root / "claims").glob("paper*")):
        denied = yaml.safe_load((folder / "denied.yaml").read_text())
        for name in ("paper", "supplement", "notebooks"):
            with (folder / f"{name}.csv").open(newline="") as lines:
                for row in csv.DictReader(lines):
                    by_id[row["id"]] = row | {"denied": row["id"] in denied}
    return by_id


@pytest.fixture(scope="module")
def judged(root, records, works):
    """The central claims with their sentences, and what these saw."""
    return judge_central(
        read_central(root / "claims"),
        PAPERS.sentences,
        [*records.values()],
        statistics_of(works),
        PAPERS.questions,
    )


@pytest.fixture(scope="module")
def shown(judged):
    """By central claim, the numbers of its reason as they are displayed."""
    return {claim.id: numbers_of(" ".join(claim.reason)) for claim in judged[0]}


@pytest.fixture(scope="module")
def told(root, judged):
    """By place, the numbers of every other sentence that has some, a tuple each."""
    central, seen = judged
    trained = {
        model: {"numeric": SeenTrained(value, model, Interval(min(drawn), max(drawn)))}
        for model, (value, drawn) in small_models(root, "numeric").items()
    }
    said = {claim.id: [*claim.row, *claim.details] for claim in central}
    said |= {f"finding {name}": sentences(tell, seen) for name, tell in PAPERS.findings.items()}
    said |= {f"story {matter.id}": sentences(matter.tell, seen) for matter in PAPERS.story}
    said |= {"surprises": sentences(PAPERS.surprises, seen.beside(trained))}
    numbers = {
        place: sorted(filter(None, map(tuple, map(numbers_of, of)))) for place, of in said.items()
    }
    return {place: of for place, of in numbers.items() if of}


def small_models(root, question):
    """{model: (answer, the same of each draw of random weights)}, as they were recorded."""
    found = {}
    for path in sorted((root / "examples" / "measured").glob("*/sensitivity.json")):
        drawn = json.loads(path.with_name("control.json").read_text())["answers"]
        for row in json.loads(path.read_text())["rows"]:
            if (row["question"], row["choice"]) == (question, "published"):
                found[path.parent.name] = row["value"], drawn[question]["drawn"]
    return found


def numbers_of(text):
    """As displayed, in order; of a range of whole numbers, 5-10, both."""
    text = THOUSANDS.sub("", NO_NUMBER.sub("", text))
    return NUMBER.findall(re.sub(r"(?<=\d)-(?=\d)", " to ", text))


# --- reading ---


def series(cells, start):
    """The list that stands below a key."""
    return np.array(
        [
            cells[f"{start}/{n}"]
            for n in itertools.takewhile(lambda n: f"{start}/{n}" in cells, itertools.count())
        ]
    )


def rows(cells, start=""):
    """The objects of a list: their keys with what stands at or below them."""
    by_number = {}
    for key, value in cells.items():
        if match := re.fullmatch(rf"{start}/(\d+)(/.*)", key):
            by_number.setdefault(int(match[1]), {})[match[2]] = value
    return [by_number[n] for n in sorted(by_number)]


def short(entry):
    """The name of a model without its owner."""
    return entry["/model"].rpartition("/")[2]


def ua(cells, category):
    return cells[f"/{category}/uniformity_a"] - cells[f"/{category}/uniformity_b"]


def asymmetries(tables, category):
    """UA of a category by model of Paper 1."""
    return {model: ua(tables[file], category) for model, file in PAPER1.items()}


def curve(cells, group="/results", metric="", low="ci_lower", high="ci_upper"):
    """{layer: (r, low, high)}, ascending."""
    pattern = re.compile(rf"{group}/(\d+){metric}/r")
    layers = sorted(int(match[1]) for match in map(pattern.fullmatch, cells) if match)
    return {
        n: tuple(cells[f"{group}/{n}{metric}/{name}"] for name in ("r", low, high)) for n in layers
    }


def curves(tables):
    return {
        "pythia": curve(tables[PYTHIA], metric="/centroid_asymmetry"),
        "llama": curve(tables[LLAMA], "/pair_level_results", "/centroid_asymmetry")
        or curve(tables[LLAMA], "/pair_level_results"),
        "apertus": curve(tables[APERTUS], low="ci_lo", high="ci_hi"),
        "gemma": curve(tables[GEMMA], low="ci_lo", high="ci_hi"),
    }


def third(curve, place):
    """Layers of a third of a list, as the notebooks cut it, with their mean of each column."""
    layers, n = list(curve), len(curve) // 3
    chosen = {"early": layers[:n], "mid": layers[n : 2 * n], "late": layers[2 * n :]}[place]
    return np.mean([curve[layer] for layer in chosen], axis=0)


def models(tables):
    """(hunt, sweep): {model: dict of numbers}."""
    sides = []
    for file, group in ((HUNT, "/tested_results"), (SWEEP, "/models")):
        side = {}
        for entry in rows(tables[file], group):
            gains = series(entry, "/residual_gain_all")
            blocks = series(entry, "/all_layer_gains")
            lab = entry.get("/lab", "EleutherAI")
            swept = len(gains) > 0
            n = len(gains) if swept else 5
            mean = gains.mean() if swept else blocks[-2]
            sd = gains.std() if swept else entry["/gain_no_ln_std"]
            half = stats.t.ppf(0.975, n - 1) * sd / math.sqrt(n - 1)
            side[short(entry)] = {
                "lab": lab,
                "gain": mean,
                "n": n,
                "low": mean - half,
                "high": mean + half,
                "final": blocks[-1],
                "blocks": blocks,
                "depth": len(blocks),
                "density": entry["/n_heads"] / entry["/d_head"],
                "width": entry["/d_model"],
            }
        sides.append(side)
    return sides


# --- numbers ---


def signed(numbers, decimals=2):
    """Numbers as displayed with a sign."""
    return [f"{number:+.{decimals}f}" for number in numbers]


def column(models, key):
    """A number of every model."""
    return np.array([model[key] for model in models.values()])


def fisher_interval(r, n):
    half = Z / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def exact_interval(r, n):
    """Of normal series: r / sqrt(1 - r^2) is a normal beside its shift times a chi, over a chi."""
    middles = (np.arange(1000) + 0.5) / 1000
    first, second = (stats.chi.ppf(middles, freedom) for freedom in (n - 1, n - 2))
    limit = r / math.sqrt(1 - r**2) * second[:, None]

    def below(rho):
        return np.mean(special.ndtr(limit - rho / math.sqrt(1 - rho**2) * first))

    def end(share):
        return optimize.brentq(lambda rho: below(rho) - share, -0.9999, 0.9999, xtol=1e-4)

    return [end(0.975), end(0.025)]


def t_interval(values, level=0.95):
    return stats.ttest_1samp(values, 0).confidence_interval(level)


def shuffled_interval(first, second):
    """The shifts of the first group that no one-sided permutation test rejects at 2.5%.

    The upper end is the lower one of the second group against the first.
    """
    return shuffled_lower(first, second), -shuffled_lower(second, first)


def shuffled_lower(first, second):
    n = len(first) + len(second)
    chosen = np.array(list(itertools.combinations(range(n), len(first))))
    observed = np.mean(first) - np.mean(second)

    def share_above(shift):
        values = np.concatenate([first - shift, second])
        inside = values[chosen].sum(axis=1)
        means = inside / len(first) - (values.sum() - inside) / len(second)
        return np.mean(means >= observed - shift - 1e-12)

    low, high = observed - 2 * (max(*first, *second) - min(*first, *second)), observed
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share_above(middle) <= 0.025 else (low, middle)
    return low


def narrowed(r, low, high):
    """The ends at 90%, on Fisher's z."""
    ratio, z = stats.norm.ppf(0.95) / Z, math.atanh(r)
    return [math.tanh(z + (math.atanh(end) - z) * ratio) for end in (low, high)]


def corr(x, y):
    return float(np.corrcoef(x, y)[0, 1])


# --- the central claims of Paper 1 ---


def p1_neutral(tables):
    values = {
        model: np.array([ua(tables[file], c) for c in NEUTRAL]) for model, file in PAPER1.items()
    }
    zone = sum(abs(ua(tables[file], "lifestyle")) < 0.015 for file in PAPER1.values())
    assert zone == sum(abs(v.mean()) < 0.015 for v in values.values())
    llama, gemma = t_interval(values["llama"], 0.9), t_interval(values["gemma"], 0.9)

    def d_without(model, category):
        left = np.array([ua(tables[PAPER1[model]], c) for c in NEUTRAL if c != category])
        return left.mean() / left.std()

    return [
        f"{zone}",
        "4",
        *signed((llama.low, llama.high, gemma.low, gemma.high), 3),
        f"{d_without('llama', 'business'):.2f}",
        f"{d_without('mistral', 'tech_philosophy'):.2f}",
    ]


def one_more(value, others, level=0.95):
    """A value less the mean of others, and the ends within which one more of them would lie."""
    half = stats.t.ppf((1 + level) / 2, len(others) - 1) * np.std(others, ddof=1)
    distance = value - np.mean(others)
    half *= math.sqrt(1 + 1 / len(others))
    return distance, distance - half, distance + half


def p1_numeric(tables):
    facts = asymmetries(tables, "ground_truth_numeric")
    others = [value for model, value in facts.items() if model != "apertus"]
    apart = {
        model: one_more(facts[model], [ua(tables[file], name) for name in NEUTRAL])
        for model, file in PAPER1.items()
    }
    assert [model for model, (_, _, high) in apart.items() if high >= 0] == ["apertus"]
    return [
        *signed(apart["apertus"]),
        *signed((max(others), min(others), facts["apertus"]), 3),
    ]


def p1_facts(tables):
    facts = asymmetries(tables, "scientific_facts")
    others = [value for model, value in facts.items() if model != "apertus"]
    ratios = sorted(abs(facts["apertus"] / value) for value in others)
    sizes = {c: abs(ua(tables[PAPER1["apertus"]], c)) for c in (*NEUTRAL, "ground_truth_numeric")}
    lead = sorted(sizes.values())[-1] - sorted(sizes.values())[-2]
    assert max(sizes, key=sizes.get) == "scientific_facts"
    n_tests = len(facts) * len(sizes)
    return [
        f"{facts['apertus']:+.3f}",
        f"{ratios[0]:.0f}",
        f"{ratios[-1]:.0f}",
        *signed(one_more(facts["apertus"], others), 3),
        *signed(one_more(facts["apertus"], others, 1 - 0.05 / n_tests)[1:]),
        f"{lead:.4f}",
    ]


def p1_positive(tables):
    gemma, apertus = (
        [ua(tables[PAPER1[model]], name) for name in NEUTRAL] for model in ("gemma", "apertus")
    )
    ends = [number for v in (gemma, apertus) for number in (np.mean(v), *t_interval(v))]
    return ["5", *signed((*ends, *t_interval(apertus, 1 - 0.05 / 4)), 3)]


def p1_business(tables):
    by_model = asymmetries(tables, "business")
    assert min(by_model, key=by_model.get) == "apertus"
    values = [*by_model.values()]
    others = [value for model, value in by_model.items() if model != "apertus"]
    numbers = (np.mean(values), *t_interval(values), by_model["apertus"])
    apart = one_more(by_model["apertus"], others)
    return ["4", *signed((min(values), max(values), *numbers, *apart), 3)]


# --- of Paper 2 ---


def p2_early(tables):
    by_model = curves(tables)
    early = third(by_model["llama"], "early")
    first = by_model["llama"][0][0], by_model["apertus"][0][0]
    return ["0", *signed((*first, *early))]


def p2_late(tables):
    by_model = curves(tables)
    late = third(by_model["pythia"], "late")
    r = signed(by_model["pythia"][n][0] for n in (24, 28, 32))
    t = late[0] * math.sqrt(228 / (1 - late[0] ** 2))
    assert 2 * stats.t.sf(abs(t), 228) >= 0.05
    strongest = min(r for r, *_ in by_model["apertus"].values())
    assert by_model["apertus"][28][0] == strongest
    printed = "-0.17"
    return [
        *signed((*third(by_model["llama"], "late"), *third(by_model["apertus"], "late"))),
        printed,
        *r,
        "24",
        "28",
        "32",
        f"{late[0]:+.3f}",
        "0.05",
        f"{strongest:+.2f}",
        "28",
    ]


def inverted(curve):
    late = list(curve)[2 * (len(curve) // 3) :]
    return any(curve[n][0] < 0 and curve[n][2] < 0 for n in late)


def p2_three(tables):
    by_model = curves(tables)
    means = [third(curve, "late")[0] for curve in by_model.values()]
    by_layer, bound, sign = (
        sum(map(inverted, by_model.values())),
        sum(mean < -0.1 for mean in means),
        sum(mean < 0 for mean in means),
    )
    assert not inverted(
        {n: curve for n, curve in by_model["pythia"].items() if n < 32} | {33: (1, 1, 1)}
    )
    return [f"{by_layer}", "4", f"{bound}", "4", f"{sign}", "4"]


def p2_transition(tables):
    by_model = curves(tables)
    llama, pythia, apertus = by_model["llama"], by_model["pythia"], by_model["apertus"]
    signs = [n for n, after in itertools.pairwise(llama) if llama[n][0] > 0 > llama[after][0]]
    assert signs == [0]
    highest = max(r for n, (r, *_) in apertus.items() if n >= 12)

    def apart(one, other):
        """The layer of the largest pair of opposite signs, and how near zero an interval comes."""
        nearer = {n: (min(one[n][0], -other[n][0]), min(one[n][1], -other[n][2])) for n in one}
        layer = max(nearer, key=nearer.get)
        return f"{layer}", f"{nearer[layer][1]:.2f}"

    return [
        *apart(pythia, llama),
        *apart(pythia, apertus),
        "8",
        *signed((*llama[8], *apertus[8])),
        "4",
        *signed(llama[4]),
        "28",
        *signed(pythia[28][1:]),
        "12",
        *signed(apertus[12][1:]),
        f"{highest:+.3f}",
    ]


def p2_extremum(tables):
    apertus = curves(tables)["apertus"]
    assert min(apertus, key=lambda n: apertus[n][0]) == 28
    there, last = apertus[28], apertus[32]
    apart = {
        n: (there[0] - r, there[1] - high, there[2] - low)
        for n, (r, low, high) in apertus.items()
        if n != 28
    }
    shown = [f"{n}" for n, (_, _, high) in apart.items() if high < 0]
    assert [n for n in apart if f"{n}" not in shown] == [16, 20, 24]
    return [
        "28",
        *signed(there),
        "32",
        *signed(last),
        "28",
        *shown,
        *("16", "20", "24"),
        *(text for n in (16, 20, 24) for text in signed(apart[n])),
    ]


def p2_gemma(tables):
    by_model = curves(tables)
    gemma = by_model["gemma"]
    late = list(gemma)[2 * (len(gemma) // 3) :]
    lowest = min(late, key=lambda n: gemma[n][0])
    inner = min(late[:-1], key=lambda n: gemma[n][0])
    bound = 0.17
    for near in (third(gemma, "late"), gemma[inner]):
        assert narrowed(*near)[0] > -bound
    assert narrowed(*gemma[lowest])[0] < -bound
    return [
        *signed((gemma[18][0], third(gemma, "late")[0], -bound, *narrowed(*gemma[lowest]))),
        f"{third(by_model['pythia'], 'late')[0]:+.3f}",
    ]


def p2_template(tables):
    with_, without = (
        curve(tables[TEMPLATE], f"/results_{condition}_template", low="ci_lo", high="ci_hi")
        for condition in ("with", "without")
    )
    means = [third(with_, place)[0] for place in ("early", "mid", "late")]
    highest = max(r for r, *_ in with_.values())
    assert highest < 0
    printed = "0.05"
    return [*signed((highest, max(means), min(means), third(without, "early")[0])), printed]


def p2_category(tables):
    names = (*NEUTRAL, "ground_truth_numeric")
    x = np.array([ua(tables[PYTHIA_UA], name) for name in names])
    y = np.array([tables[PYTHIA_UA][f"/{name}/output_preference"] for name in names])
    test = stats.pearsonr(x, y)
    left = [stats.pearsonr(np.delete(x, n), np.delete(y, n)) for n in range(len(names))]
    weakest = min(left, key=lambda test: abs(test.statistic))
    assert test.pvalue * 9 > 0.05  # lost over nine layers
    title = "-0.87"
    small = tables[SCALING]["/models/Pythia-410M/layer_results/24/correlation"]
    low, high = exact_interval(small, len(names))
    assert small < test.statistic < high
    ranks = [stats.rankdata(side) for side in (x, y)]
    drawn = [abs(corr(ranks[0], order)) for order in itertools.permutations(ranks[1])]
    p_of_ranks = np.mean(np.array(drawn) >= abs(corr(*ranks)) - 1e-12)
    return [
        f"{test.statistic:+.3f}",
        "6",
        f"{test.pvalue:.3f}",
        title,
        f"{weakest.statistic:+.2f}",
        f"{weakest.pvalue:.3f}",
        f"{stats.spearmanr(x, y).statistic:+.2f}",
        f"{p_of_ranks:.3f}",
        f"{small:+.3f}",
        "6",
        *signed((low, high)),
    ]


def p2_bins(tables):
    by_layer = curve(tables[BINS], "/bootstrap_results")
    lower = min(by_layer[8], by_layer[12])
    return [
        "20",
        f"{by_layer[8][0]:+.2f}",
        "8",
        f"{by_layer[12][0]:+.2f}",
        "12",
        *signed(lower[1:]),
    ]


def p2_layers(tables):
    r = {n: tables[LAYERS][f"/strategies/layer_{n}/correlation"] for n in (8, 12, 32)}
    ends = {n: exact_interval(r[n], 6) for n in (8, 32)}
    assert r[8] > r[12]
    return ["8", *signed((r[8], *ends[8], r[32], *ends[32]))]


def p2_scaling(tables):
    peaks = []
    for size in ("410M", "1.4B", "6.9B", "12B"):
        start = f"/models/Pythia-{size}"
        pattern = re.compile(rf"{re.escape(start)}/layer_results/(\d+)/correlation")
        matches = filter(None, map(pattern.fullmatch, tables[SCALING]))
        r = {int(match[1]): tables[SCALING][match[0]] for match in matches}
        peaks.append(100 * max(r, key=r.get) / tables[SCALING][f"{start}/n_layers"])
    ends = [np.std(peaks) * math.sqrt(4 / stats.chi2.ppf(tail, 3)) for tail in (0.975, 0.025)]
    return ["4", *(f"{number:.0f}" for number in (np.mean(peaks), np.std(peaks), *ends))]


# --- of Paper 3 ---


def p3_depth(tables):
    hunt, sweep = models(tables)
    both = hunt | sweep
    depth, gain, density = (column(sweep, key) for key in ("depth", "gain", "density"))
    test = stats.pearsonr(depth, gain)
    of_hunt, of_both = (corr(column(side, "depth"), column(side, "gain")) for side in (hunt, both))
    ranks = [stats.rankdata(side) for side in (depth, gain)]
    rank = corr(*ranks)
    orders = np.array(list(itertools.permutations(ranks[1])))
    drawn = np.abs((orders - 4.5) @ (ranks[0] - 4.5))
    p = np.mean(drawn >= abs((ranks[1] - 4.5) @ (ranks[0] - 4.5)) - 1e-9)
    printed = "-0.81", "0.014"
    return [
        f"{test.statistic:+.2f}",
        *signed(exact_interval(test.statistic, len(depth))),
        f"{test.statistic:+.3f}",
        f"{test.pvalue:.3f}",
        *printed,
        f"{corr(density, gain):+.3f}",
        f"{of_hunt:+.2f}",
        *signed(fisher_interval(of_hunt, len(hunt))),
        f"{of_both:+.2f}",
        *signed(fisher_interval(of_both, len(both))),
        f"{rank:+.2f}",
        f"{p:.3f}",
    ]


def p3_bound(tables):
    _, sweep = models(tables)
    model = sweep["pythia-1b"]
    products = [np.prod(model["blocks"][1:-1]) for model in sweep.values()]
    expanding = sum(product > 1 for product in products)
    bound = 10 ** (1 / model["depth"])
    return [
        f"{model['gain']:.3f}",
        f"{bound:.3f}",
        "1",
        f"{expanding}",
        f"{len(sweep)}",
        f"{max(products):.1f}",
    ]


def fisher(eleuther, others):
    table = [[sum(side), len(side) - sum(side)] for side in (eleuther, others)]
    return stats.fisher_exact(table).pvalue


def likeliest(models, undecided, statistic):
    """A statistic of the sides over the likeliest tables, which hold 95% of the weight.

    The undecided models are counted by the chance, by Student's t, that their gain is below 1.
    """
    gain, high = column(models, "gain"), column(models, "high")
    error = (high - gain) / stats.t.ppf(0.975, column(models, "n") - 1)
    chance = stats.t.cdf((1 - gain) / error, column(models, "n") - 1)[undecided]
    weights = {}
    for turned in itertools.product((False, True), repeat=sum(undecided)):
        damping = gain < 1
        damping[undecided] = turned
        number = round(statistic(damping), 12)
        weight = np.prod(np.where(turned, chance, 1 - chance))
        weights[number] = weights.get(number, 0) + weight
    held, likely = 0, []
    for number in sorted(weights, key=weights.get, reverse=True):
        if held < 0.95:
            likely.append(number)
            held += weights[number]
    return likely


def power_of_fisher(first, second, n_first, n_second):
    """How often the test finds these shares different."""
    a, b = (
        stats.binom.pmf(range(n_first + 1), n_first, first),
        stats.binom.pmf(range(n_second + 1), n_second, second),
    )
    return sum(
        a[i] * b[j]
        for i in range(n_first + 1)
        for j in range(n_second + 1)
        if stats.fisher_exact([[i, n_first - i], [j, n_second - j]]).pvalue < 0.05
    )


def needed_by_fisher(first, second):
    return next(n for n in range(2, 40) if power_of_fisher(first, second, n, n) >= 0.8)


def p3_heritage(tables):
    hunt, sweep = models(tables)
    both = hunt | sweep

    def split(values, models=hunt):
        """Those of EleutherAI's models, and of the others."""
        is_eleuther = column(models, "lab") == "EleutherAI"
        return values[is_eleuther], values[~is_eleuther]

    gain, is_meta = column(hunt, "gain"), column(hunt, "lab") == "Meta"
    eleuther, others = split(gain < 1)
    pooled = split(column(both, "gain") < 1, both)
    gpt2 = last_gains(tables, GPT2, "/Model")
    sizes = [gains.mean() < 1 for gains in gpt2.values()]
    undecided = (column(hunt, "low") < 1) & (column(hunt, "high") > 1)
    likely = likeliest(hunt, undecided, lambda damping: fisher(*split(damping)))
    gains = split(gain)
    low, high = shuffled_interval(*gains)
    first, second = np.mean(eleuther), np.mean(others)
    shares = first, np.mean(gain[is_meta] >= 1), 1 - second
    final = column(hunt, "final")
    printed = "100"
    return [
        *(f"{100 * share:.0f}" for share in shares),
        printed,
        f"{100 * (1 - np.mean(sizes)):.0f}",
        f"{fisher(eleuther, others):.3f}",
        "0.001",
        f"{fisher(*pooled):.3f}",
        f"{fisher(pooled[0], [*pooled[1], *sizes]):.3f}",
        "1",
        f"{sum(undecided)}",
        f"{min(likely):.3f}",
        f"{max(likely):.3f}",
        f"{fisher(*split(final < 1)):.3f}",
        f"{100 * np.mean(final[is_meta] > 1):.0f}",
        *(f"{-number:.2f}" for number in (np.mean(gains[0]) - np.mean(gains[1]), high, low)),
        f"{len(eleuther)}",
        f"{len(others)}",
        f"{100 * power_of_fisher(first, second, len(eleuther), len(others)):.0f}",
        "80",
        f"{needed_by_fisher(first, second)}",
    ]


def norms_by_model(tables):
    """{model: (lab, mean norm of W_V, that over the mean norm of W_O)}."""
    norms = {}
    for entry in rows(tables[SPECTRAL], "/results"):
        value, output = (series(entry, f"/W_{k}_spectral_norm").mean() for k in "VO")
        norms[short(entry)] = (entry["/lab"], value, value / output)
    return norms


def ratio_and_gain(tables):
    """The models with both, their r, how many the best threshold gets right, and one guess."""
    hunt, sweep = models(tables)
    norms, gained = norms_by_model(tables), hunt | sweep
    names = [name for name in norms if name in gained]
    r = corr([norms[n][2] for n in names], [gained[n]["gain"] for n in names])
    damps = {n: gained[n]["gain"] < 1 for n in names}
    right = max(
        sum((norms[n][2] > limit) == damps[n] for n in names)
        for limit in (0, *(norms[n][2] for n in names))
    )
    return names, r, right, max(sum(damps.values()), len(names) - sum(damps.values()))


def p_of_norms(tables):
    labs = {True: [], False: []}
    for lab, value, _ in norms_by_model(tables).values():
        labs[lab == "EleutherAI"].append(value)
    return stats.mannwhitneyu(labs[True], labs[False], method="exact").pvalue


def p3_spectral(tables):
    hunt, sweep = models(tables)
    gained, norms = hunt | sweep, norms_by_model(tables)
    names, r, right, constant = ratio_and_gain(tables)
    last, first = (end(names, key=lambda n: norms[n][2]) for end in (max, min))
    assert gained[last]["low"] > 1 > gained[first]["high"]

    def mean(place, belongs):
        return np.mean([entry[place] for name, entry in norms.items() if belongs(name, entry[0])])

    meta = mean(2, lambda _, lab: lab == "Meta")
    values = mean(1, lambda _, lab: lab == "EleutherAI") / mean(1, lambda _, lab: lab == "Meta")
    return [
        f"{right}",
        f"{len(names)}",
        f"{constant}",
        "1",
        f"{r:+.2f}",
        *signed(exact_interval(r, len(names))),
        f"{values:.1f}",
        f"{p_of_norms(tables):.3f}",
        f"{mean(2, lambda n, _: n.startswith('pythia')) / meta:.1f}",
        f"{mean(2, lambda _, lab: lab == 'EleutherAI') / meta:.1f}",
    ]


def right(models, key="gain"):
    """Of how many models, %, the rule on the density is right."""
    return 100 * np.mean((column(models, "density") >= 0.2) == (column(models, key) < 1))


def guess(models):
    """Of how many models, %, one answer for all is right."""
    damping = np.mean(column(models, "gain") < 1)
    return 100 * max(damping, 1 - damping)


def p3_crowding(tables):
    hunt, sweep = models(tables)

    def fishers(damping):
        is_dense = column(sweep, "density") >= 0.2
        dense, sparse = damping[is_dense], damping[~is_dense]
        p = fisher(dense, sparse)
        return p if np.mean(dense) >= np.mean(sparse) else 1.0

    undecided = (column(sweep, "low") < 1) & (column(sweep, "high") > 1)
    likely = likeliest(sweep, undecided, fishers)
    is_dense = column(hunt, "density") >= 0.2
    damping = column(hunt, "gain") < 1
    assert np.mean(damping[is_dense]) < np.mean(damping[~is_dense])  # so that p is 1
    printed = "100"
    return [
        f"{right(sweep):.0f}",
        f"{fishers(column(sweep, 'gain') < 1):.3f}",
        f"{min(likely):.3f}",
        f"{max(likely):.2f}",
        "1",
        f"{right(hunt):.0f}",
        printed,
        f"{right(hunt, 'final'):.0f}",
        f"{guess(hunt):.0f}",
        "1.00",
        f"{right(hunt | sweep):.0f}",
        f"{guess(hunt | sweep):.0f}",
    ]


def sides_and_traces(tables, kind):
    """By model, the side that the script gives it, and its mean trace."""
    runs = {short(entry): entry for entry in rows(tables[TRACES], "/results")}
    sides = {name: entry["/behavior"] for name, entry in runs.items()}
    return sides, {name: series(run, f"/traces_{kind}").mean() for name, run in runs.items()}


def larger_by_heads(tables):
    """For each expanding and damping model, whether the expanding one has the larger trace."""
    sides, traces = sides_and_traces(tables, "multihead")
    return [
        traces[a] > traces[b]
        for a, b in itertools.permutations(traces, 2)
        if (sides[a], sides[b]) == ("EXPAND", "DAMPEN")
    ]


def p3_trace(tables):
    sides, traces = sides_and_traces(tables, "multihead")
    _, full = sides_and_traces(tables, "full")
    larger = larger_by_heads(tables)

    def factor(traces):
        expanding, damping = (
            np.mean([trace for name, trace in traces.items() if sides[name] == side])
            for side in ("EXPAND", "DAMPEN")
        )
        return expanding / damping

    hunt, sweep = models(tables)

    def by_gain(traces):
        """The same factor where the sides are those of the measured gains, if there are any."""
        gained = hunt | sweep
        expands = {
            name: gained[name]["gain"] > 1 if name in gained else sides[name] == "EXPAND"
            for name in traces
        }
        expanding, damping = (
            np.mean([trace for name, trace in traces.items() if expands[name] == side])
            for side in (True, False)
        )
        return expanding / damping

    printed = "1.2"
    return [
        "4",
        f"{factor(full):.1f}",
        printed,
        f"{factor(traces):.1f}",
        f"{sum(larger)}",
        f"{len(larger)}",
        f"{sweep['pythia-160m']['gain']:.2f}",
        *(f"{by_gain(means):.1f}" for means in (full, traces)),
        f"{traces['gpt2'] / traces['opt-125m']:.0f}",
        f"{len(traces)}",
        "8",
    ]


def formula(n_layers, n_heads):
    return n_layers * (0.11 + 0.012 * n_layers + 4.9 / n_heads)


def least_error(models):
    """The smallest mean error, % of depth, of a formula through three of the models."""
    columns = np.array([(1, n_layers, 1 / n_heads) for n_layers, n_heads, _ in models])
    depths = np.array([layer / n_layers for n_layers, _, layer in models])
    errors = []
    for three in map(list, itertools.combinations(range(len(models)), 3)):
        if np.linalg.matrix_rank(columns[three]) == 3:
            fit = columns @ np.linalg.solve(columns[three], depths[three])
            errors.append(100 * np.mean(np.abs(fit - depths)))
    return min(errors)


def steepest(trace):
    """The layer of the largest step of the gradient; a NaN is the largest of all."""
    return int(np.argmax(np.abs(np.gradient(trace))))


def missed(table):
    """{model: [error of the formula, error of L/2]}, in percent of depth."""
    return {
        short(entry): [
            100 * abs(guess - entry["/L_star_empirical"]) / entry["/L"]
            for guess in (formula(entry["/L"], entry["/H"]), entry["/L"] / 2)
        ]
        for entry in rows(table, "/results")
    }


def p3_lstar(tables):
    miss = missed(tables[CROSS])
    fitted = [*rows(tables[TRACES], "/results"), *rows(tables[EXTENDED], "/extended_results")]
    fitted = [entry for entry in fitted if "Mistral" not in entry["/model"]]
    seen = {short(entry) for entry in fitted}
    unseen = [errors for name, errors in miss.items() if name not in seen]
    mean = np.mean(list(miss.values()), axis=0)
    ends = t_interval([a - b for a, b in miss.values()])
    within, models = [], []
    for entry in fitted:
        trace = series(entry, "/traces_mh" if "/traces_mh/0" in entry else "/traces_full")
        layer = steepest(trace)
        models.append((entry["/n_layers"], entry["/n_heads"], layer))
        within.append(
            [
                100 * abs(guess - layer) / entry["/n_layers"]
                for guess in (
                    formula(entry["/n_layers"], entry["/n_heads"]),
                    entry["/n_layers"] / 2,
                )
            ]
        )
    ours, half = np.mean(within, axis=0)
    percent = [
        100 * abs(formula(entry["/L"], entry["/H"]) / entry["/L_star_empirical"] - 1)
        for entry in rows(tables[CROSS], "/results")
    ]
    return [
        f"{mean[0]:.1f}",
        f"{mean[1]:.1f}",
        f"{len(miss) - len(unseen)}",
        f"{np.mean(unseen, axis=0)[0]:.1f}",
        f"{np.mean(unseen, axis=0)[1]:.1f}",
        f"{ends.low:+.0f}",
        f"{ends.high:+.0f}",
        f"{np.mean(percent):.1f}",
        f"{least_error(models):.1f}",
        f"{ours:.1f}",
        f"{half:.1f}",
    ]


def last_gains(tables, file, *keys):
    by_name = {}
    for row in rows(tables[file]):
        by_name.setdefault(tuple(row[key] for key in keys), []).append(row["/Last_Gain"])
    return {name: np.array(gains) for name, gains in by_name.items()}


def p3_gains(tables):
    by_model = {name: gains for (name,), gains in last_gains(tables, BENCHMARK, "/Model").items()}
    order = sorted(by_model, key=lambda name: by_model[name].mean())
    assert order == ["Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B"]
    prompts = {}
    for row in rows(tables[BENCHMARK]):
        prompts.setdefault(row["/Model"], []).append(
            [row[key] for key in ("/Category", "/Complexity")]
        )
    assert all(asked == prompts[order[0]] for asked in prompts.values())  # the same, in this order
    steps = [t_interval(by_model[b] - by_model[a]).low for a, b in itertools.pairwise(order)]
    norms = series(tables[FOUR], "/results/llama3.1-8b/norms")
    return [
        f"{by_model[order[0]].mean():.2f}",
        f"{by_model[order[-1]].mean():.2f}",
        *(f"{step:.2f}" for step in steps),
        f"{norms[-1] / norms[-2]:.2f}",
        f"{by_model['LLaMA-3.1-8B'].mean():.2f}",
    ]


def p3_tuning(tables):
    by_variant = last_gains(tables, TWINS, "/Family", "/Variant")
    families = list(dict.fromkeys(family for family, _ in by_variant))
    pairs = {name: (by_variant[name, "base"], by_variant[name, "instruct"]) for name in families}
    means = {name: (base.mean(), tuned.mean()) for name, (base, tuned) in pairs.items()}
    assert all(base > 1 and tuned > 1 for base, tuned in means.values())
    change = {name: 100 * abs(1 - tuned / base) for name, (base, tuned) in means.items()}
    assert max(change, key=change.get) == "Gemma-7B"
    turned = sum(np.sum((base > 1) != (tuned > 1)) for base, tuned in pairs.values())
    n_pairs = sum(len(base) for base, _ in pairs.values())
    low = stats.beta.ppf(0.025, len(families), 1)
    return [
        "1",
        *(f"{mean:.2f}" for mean in means["Gemma-7B"]),
        f"{max(change.values()):.0f}",
        f"{turned}",
        f"{n_pairs}",
        "1",
        f"{len(families)}",
        f"{100 * low:.0f}",
        f"{len(families)}",
        "1",
        "6",
    ]


def zou(y, a, b):
    """|r(y, a)| - |r(y, b)| with Zou's interval for overlapping correlations."""
    n = len(y)
    if corr(y, a) < 0:
        a = -a
    if corr(y, b) < 0:
        b = -b
    r1, r2, r3 = corr(y, a), corr(y, b), corr(a, b)
    (l1, u1), (l2, u2) = fisher_interval(r1, n), fisher_interval(r2, n)
    c = ((r3 - r1 * r2 / 2) * (1 - r1**2 - r2**2 - r3**2) + r3**3) / ((1 - r1**2) * (1 - r2**2))
    low = r1 - r2 - math.sqrt((r1 - l1) ** 2 + (u2 - r2) ** 2 - 2 * c * (r1 - l1) * (u2 - r2))
    high = r1 - r2 + math.sqrt((u1 - r1) ** 2 + (r2 - l2) ** 2 - 2 * c * (u1 - r1) * (r2 - l2))
    return r1 - r2, max(low, -1), min(high, 1)


def p3_hierarchy(tables):
    hunt, sweep = models(tables)

    def columns(models):
        gain, density, depth = (column(models, key) for key in ("gain", "density", "depth"))
        other = (column(models, "lab") != "EleutherAI").astype(float)
        return gain, other, density, np.log(12 * depth * column(models, "width") ** 2)

    gain, other, density, size = columns(hunt)
    first, second = zou(gain, other, density), zou(gain, density, size)
    pooled = zou(*columns(hunt | sweep)[:3])
    assert pooled[1] < 0
    return [
        f"{len(hunt)}",
        f"{first[0]:.2f}",
        *signed(first[1:]),
        f"{pooled[0]:+.2f}",
        *signed(second),
        "12",
    ]


def p3_anisotropy(tables):
    shares = series(tables[PROFILE], "/intrinsic_dim_ratio")
    peak = int(np.argmax(shares))
    cosines = series(tables[PROFILE], "/avg_cos_sim")
    assert peak == 1 + np.argmin(cosines[1:-1])
    slopes = [np.polyfit(range(len(part)), part, 1)[0] for part in (shares[peak:], shares[peak:-1])]
    pythia = curves(tables)["pythia"]
    negative = next(n for n, (r, *_) in pythia.items() if r < 0)
    typed = 28

    def weaker(profile):
        top = int(np.argmax(profile))
        trends = []
        for part in (profile[: top + 1], -profile[top:]):
            n = len(part)
            count = np.triu(np.sign(part[None] - part[:, None]), 1).sum()
            trends.append(count / max(math.sqrt(n * (n - 1) * (2 * n + 5) / 18), 1))
        return min(trends)

    chances = []
    for profile in (shares, shares[:-1]):
        steps = np.diff(profile)
        signs = np.random.RandomState(42).choice([-1.0, 1.0], size=(4000, len(steps)))
        walks = np.concatenate([np.zeros((4000, 1)), np.cumsum(signs * steps, axis=1)], axis=1)
        beyond = sum(weaker(walk) >= weaker(profile) for walk in walks)
        chances.append(f"{(beyond + 1) / 4001:.3f}")
    return [
        f"{peak}",
        *signed(slopes, 4),
        "1",
        f"{len(cosines) - 2}",
        f"{cosines[peak]:.3f}",
        *chances,
        f"{typed - peak}",
        f"{typed}",
        f"{negative}",
        f"{negative - peak}",
    ]


RECOMPUTED = {
    "p1.neutral": p1_neutral,
    "p1.positive": p1_positive,
    "p1.numeric": p1_numeric,
    "p1.apertus_facts": p1_facts,
    "p1.business": p1_business,
    "p2.early": p2_early,
    "p2.late": p2_late,
    "p2.three_of_four": p2_three,
    "p2.transition": p2_transition,
    "p2.extremum": p2_extremum,
    "p2.gemma": p2_gemma,
    "p2.template": p2_template,
    "p3.depth_gain": p3_depth,
    "p3.bound": p3_bound,
    "p3.heritage": p3_heritage,
    "p3.spectral": p3_spectral,
    "p3.crowding": p3_crowding,
    "p3.trace": p3_trace,
    "p3.lstar": p3_lstar,
    "p3.gains": p3_gains,
    "p3.tuning": p3_tuning,
    "p3.hierarchy": p3_hierarchy,
    "p2.bins": p2_bins,
    "p2.layers": p2_layers,
    "p2.scaling": p2_scaling,
    "p2.category_inversion": p2_category,
    "p3.anisotropy": p3_anisotropy,
}


def test_no_central_claim_is_left_out(shown):
    assert list(shown) == list(RECOMPUTED)


@pytest.mark.parametrize("claim", RECOMPUTED)
def test_every_number_of_a_claim_is_that_of_numpy(tables, shown, claim):
    assert shown[claim] == RECOMPUTED[claim](tables)


# --- what else is displayed -----------------------------------------------------------------------
#
# A tuple for each sentence that has a number, by the place where it stands; in any order.


def printed_in(ledger, claim_id):
    """The numbers that a claim prints."""
    return numbers_of(ledger[claim_id]["printed"])


def words_within(tables, bound):
    """The largest gap of a pair's word counts over the longer side, %; pairs within, and pairs."""
    words = {}
    for key, count in tables["words of dataset.json"].items():
        _, category, pair, side = key.split("/")
        words.setdefault((category, pair), {})[side] = count
    gaps = [abs(w["a"] - w["b"]) / max(w.values()) for w in words.values()]
    return f"{100 * max(gaps):.0f}", f"{sum(gap <= bound for gap in gaps)}", f"{len(gaps)}"


def neutral_told(tables, ledger):
    zone = sum(abs(ua(tables[file], "lifestyle")) < 0.015 for file in PAPER1.values())
    (bound,) = printed_in(ledger, "p1.table_dataset.caption.parity")
    return [
        (f"{zone}", f"{len(PAPER1)}"),
        (*words_within(tables, int(bound) / 100), bound),
        tuple(printed_in(ledger, "p1.readme.effect_rule")),
    ]


def facts_told(tables, ledger):
    facts = asymmetries(tables, "scientific_facts")
    near = [abs(value) < 0.015 for model, value in facts.items() if model != "apertus"]
    printed = printed_in(ledger, "p1.ext.page.mistral.facts_ua")
    return [(f"{sum(near)}", f"{len(near)}"), (*printed, *signed([facts["mistral"]], 3))]


def late_told(tables, ledger):
    density = curve(tables[PYTHIA], metric="/knn_density_asymmetry")
    r, n = tables[PHASES]["/0/late_mean"], 230
    p = 2 * stats.t.sf(abs(r) * math.sqrt((n - 2) / (1 - r**2)), n - 2)
    ends = {key: row for key, row in ledger.items() if re.match(r"p2\.csv\.pythia\.L.*ci_", key)}
    pythia = curves(tables)["pythia"]
    moved = 0
    for key, row in ends.items():
        layer, end = re.search(r"L(\d+)\.ci_(lo|hi)", key).groups()
        ours = pythia[int(layer)][1 if end == "lo" else 2]
        moved += round(ours, int(row["decimals"])) != float(row["printed"])
    return [
        (f"{third(density, 'late')[0]:+.3f}",),
        (f"{min(bound for bound in (0.001, 0.01, 0.05) if p < bound)}",),
        (f"{moved}", f"{len(ends)}"),
        ("24", *printed_in(ledger, "p2.csv.pythia.L24.ci_lo"), f"{pythia[24][1]:+.3f}"),
        ("24",),
    ]


def gemma_told(tables, ledger):
    layers = np.array_split([*curves(tables)["gemma"]], [3, 6])  # thirds of the list
    ours = [f"{end}" for part in layers for end in (part[0], part[-1])]
    printed = (
        printed_in(ledger, f"p2.method.partition.{phase}_gemma")
        for phase in ("early", "mid", "late")
    )
    return [(*ours, *itertools.chain(*printed))]


def template_told(tables, ledger):
    return [tuple(signed([third(curves(tables)["llama"], "early")[0]]))]


def depth_told(tables, ledger):
    hunt, sweep = models(tables)
    blocks = np.concatenate([m["blocks"][:-1] for m in sweep.values() if m["gain"] < 1])
    final = column(hunt, "final")
    return [
        (f"{sum(blocks < 1)}", f"{len(blocks)}", "1"),
        (
            *printed_in(ledger, "p3.notebook.hunt.shrunk"),
            f"{sum(column(sweep, 'final') < 1)}",
            f"{len(sweep)}",
            f"{min(final):.2g}",
            f"{max(final):.2g}",
        ),
    ]


def heritage_told(tables, ledger):
    hunt, sweep = models(tables)
    damping_others = [m for m in hunt.values() if m["lab"] != "EleutherAI" and m["gain"] < 1]
    undecided = [m for m in damping_others if m["low"] < 1 < m["high"]]
    assert sorted(m["lab"] for m in damping_others) == ["BigScience", "Meta"]
    own = [m["gain"] for m in hunt.values() if m["lab"] == "EleutherAI"]
    pooled = [m["gain"] for m in (hunt | sweep).values() if m["lab"] == "EleutherAI"]
    damp, others = (
        float(ledger[f"p3.heritage.{name}"]["printed"]) / 100
        for name in ("eleuther_dampen", "others_expand")
    )
    n_own, n_others = len(own), len(hunt) - len(own)
    damping = round(damp * n_own), round((1 - others) * n_others)
    table = [[damping[0], n_own - damping[0]], [damping[1], n_others - damping[1]]]
    of_sweep = 100 * np.mean(column(sweep, "gain") < 1)
    return [
        ("1", f"{len(undecided)}", "1"),
        (f"{stats.fisher_exact(table).pvalue:.3f}",),
        (f"{np.mean(own):.3f}", *printed_in(ledger, "p3.fig2.EleutherAI.mean")),
        (f"{100 * np.mean(np.array(pooled) < 1):.0f}", f"{of_sweep:.0f}"),
        (
            *printed_in(ledger, "p3.contrib.validated_across"),
            *(f"{n}" for n in (len(sweep), len(hunt), len(rows(tables[SPECTRAL], "/results")))),
        ),
        (f"{of_sweep:.0f}", "1"),
    ]


def late_square(entry):
    norms = series(entry, "/W_V_spectral_norm")
    return np.mean(norms[len(norms) - len(norms) // 3 :] ** 2)


def spectral_told(tables, ledger):
    entries = rows(tables[SPECTRAL], "/results")
    pythia = np.mean([late_square(e) for e in entries if "/pythia-" in e["/model"]])
    others = [late_square(e) for e in entries if e["/lab"] != "EleutherAI"]
    meta = [late_square(e) for e in entries if e["/lab"] == "Meta"]
    names, _, best, _ = ratio_and_gain(tables)
    return [
        (f"{best}", f"{len(names)}"),
        ("1",),
        (f"{p_of_norms(tables):.3f}",),
        (f"{pythia / np.mean(others):.0f}", *printed_in(ledger, "p3.figA5.ratio")),
        (f"{pythia / np.mean(meta):.0f}",),
    ]


def crowding_told(tables, ledger):
    _, sweep = models(tables)
    density, damping = column(sweep, "density"), column(sweep, "gain") < 1
    ends = max(density[~damping]), min(density[damping])
    printed = (f"{float(end):g}" for end in printed_in(ledger, "p3.crowding.rho_crit"))
    return [(*(f"{end:.2f}" for end in ends), *printed)]


def lstar_told(tables, ledger):
    miss = missed(tables[CROSS])
    without = [ours for name, (ours, _) in miss.items() if "bloom" not in name]
    signs = [ours for ours, _ in missed(tables[SIGNS]).values()]
    return [(f"{np.mean(signs):.1f}",), (f"{np.mean(without):.1f}",)]


def gains_told(tables, ledger):
    norms = series(tables[FOUR], "/results/llama3.1-8b/norms")
    pythia = [row for row in rows(tables[BENCHMARK]) if row["/Model"] == "Pythia-6.9B"]
    r = corr([row["/Entropy"] for row in pythia], [row["/Last_Gain"] for row in pythia])
    pangram = tables[INPUTS]["/results/5_Original_Test/gains/31"]
    return [
        (f"{norms[-1] / norms[-2]:.2f}",),
        (f"{r:.2f}", "1", "1"),
        (f"{pangram:.2f}", *printed_in(ledger, "p3.notebook.inputdep.pangram")),
    ]


def tuning_told(tables, ledger):
    by_variant = last_gains(tables, TWINS, "/Family", "/Variant")
    base, tuned = (
        [gains.mean() for (_, variant), gains in by_variant.items() if variant == which]
        for which in ("base", "instruct")
    )
    printed = printed_in(ledger, "p3.notebook.twin.correlation")
    return [(*printed, f"{corr(base, tuned):.2f}")]


def category_told(tables, ledger):
    by_layer = curve(tables[BOOTSTRAP], "/layer_results")
    return [tuple(f"{n}" for n, (_, low, high) in by_layer.items() if not low <= 0 <= high)]


def anisotropy_told(tables, ledger):
    return [tuple(printed_in(ledger, "p3.aniso.L_star_paper2"))]


# --- findings ---


def regimes(tables, ledger):
    def n_with(category, regime):
        labels = [
            entry["/classification"]
            for entry in rows(tables[CLASSES])
            if entry["/category"] == category
        ]
        return f"{labels.count(regime)}", f"{len(labels)}"

    return [
        n_with("lifestyle", "BULLSHIT_REGIME"),
        n_with("business", "BULLSHIT_REGIME"),
        n_with("ground_truth_numeric", "LIE_REGIME"),
    ]


def control(tables, ledger):
    """Of the neutral pairs without the one on capitals, which are parallel, those near zero."""
    pairs = rows(tables[CONTROL], "/neutral_results")
    del pairs[9]
    apart = [abs(float(pair["/sim_a"]) - float(pair["/sim_b"])) for pair in pairs]
    return [(f"{sum(gap < 0.005 for gap in apart)}", f"{len(apart)}")]


def five(tables, ledger):
    ratio = ua(tables[PAPER1["apertus"]], "scientific_facts") / ua(
        tables[PAPER1["apertus"]], "business"
    )
    return [(f"{abs(ratio):.0f}", *printed_in(ledger, "p1.disc.hyp2.ratio"))]


def sizes(tables, ledger):
    pairs = [n for key, n in tables["dataset.json"].items() if key.endswith("/n_pairs")]
    printed = printed_in(ledger, "p1.limits.sample_size")
    return [(f"{min(pairs)}", f"{max(pairs)}", *printed)]


def supplement_slips(tables, ledger):
    entries = [
        (e["/model"], e["/category"], e["/ua_score"], e["/nll_b"] - e["/nll_a"])
        for e in rows(tables[CLASSES])
    ]

    def total(model):
        return sum(score * preference for name, _, score, preference in entries if name == model)

    def divergence(category):
        return np.std([numbers for _, name, *numbers in entries if name == category], axis=0).sum()

    *_, second, largest = sorted(map(divergence, {category for _, category, *_ in entries}))
    ours = {
        "llama.total": total("llama"),
        "apertus.total": total("apertus"),
        "divergence.ratio": largest / second,
    }
    return [
        (*printed_in(ledger, f"p1.ext.page.{name}"), f"{value:.4g}") for name, value in ours.items()
    ]


def headers(tables, ledger):
    (step,) = set(np.diff([*curves(tables)["gemma"]]))
    return [(*printed_in(ledger, "p2.notebook.gemma.step"), f"{step}")]


def figure_sources(tables, ledger):
    attributed = [name for name in ledger if name.startswith("p3.map.")]
    denied = [name for name in attributed if ledger[name]["denied"]]
    return [(f"{len(attributed)}", f"{len(denied)}")]


def distances(tables):
    """The prompts of the benchmark: {(model, category): gains}."""
    return last_gains(tables, BENCHMARK, "/Model", "/Category")


def bentov_law(tables, ledger):
    gains = distances(tables)
    names = list(dict.fromkeys(model for model, _ in gains))

    def n_above(category):
        mean = {
            name: np.concatenate([g for (model, _), g in gains.items() if model == name]).mean()
            for name in names
        }
        return sum(gains[name, category].mean() > mean[name] for name in names)

    return [(f"{n_above(kind)}", f"{len(names)}") for kind in ("Novel", "Syntactic")]


def paper3_slips(tables, ledger):
    gains = distances(tables)
    order = sorted(gains, key=lambda name: np.abs(gains[name] - 1).mean())
    ranks = {f"p3.bentov.rank.{m}.{c}": order.index((m, c)) + 1 for m, c in order}
    printed = {name: row for name, row in ledger.items() if name.startswith("p3.bentov.rank.")}
    wrong = sum(ranks[name] != int(row["printed"]) for name, row in printed.items())
    notebooks = [key for key in tables["tree e3c7f94"] if key.startswith("/paper3/notebooks/")]
    return [
        (f"{len(notebooks)}", *printed_in(ledger, "p3.readme.n_notebooks_pinned")),
        (f"{len(printed)}", f"{wrong}"),
    ]


# --- the story, and the surprises ---


def of_asymmetry(tables, ledger):
    with_ = curve(tables[TEMPLATE], "/results_with_template", low="ci_lo", high="ci_hi")
    highest = max(with_, key=lambda n: with_[n][0])
    zone = sum(abs(ua(tables[file], "lifestyle")) < 0.015 for file in PAPER1.values())
    return [
        tuple(signed([with_[highest][2]])),
        tuple(signed(third(curves(tables)["llama"], "early")[1:])),
        (f"{zone}", f"{len(PAPER1)}"),
    ]


def of_depth(tables, ledger):
    by_model = curves(tables)
    late = {model: third(by_model[model], "late") for model in by_model}
    gemma = by_model["gemma"]
    lowest = min([*gemma][2 * (len(gemma) // 3) :], key=lambda n: gemma[n][0])
    there, last = by_model["apertus"][28], by_model["apertus"][32]
    apart = there[0] - last[0], there[1] - last[2], there[2] - last[1]
    return [
        tuple(signed((late["llama"][0], late["apertus"][0]))),
        tuple(signed(late["pythia"][1:])),
        tuple(signed([by_model["pythia"][32][0]])),
        tuple(signed(narrowed(*gemma[lowest])[:1])),
        ("28", *signed(apart)),
    ]


def r_of_depth(models):
    return corr(column(models, "depth"), column(models, "gain"))


def lab_test(tables):
    """Fisher's p of the labs in the survey, and the least and largest of its likeliest tables."""
    hunt, _ = models(tables)
    is_eleuther = column(hunt, "lab") == "EleutherAI"

    def p_of(damping):
        return fisher(damping[is_eleuther], damping[~is_eleuther])

    likely = likeliest(hunt, (column(hunt, "low") < 1) & (column(hunt, "high") > 1), p_of)
    return p_of(column(hunt, "gain") < 1), min(likely), max(likely)


def of_gains(tables, ledger):
    hunt, sweep = models(tables)
    both = hunt | sweep
    gain, is_eleuther = column(hunt, "gain"), column(hunt, "lab") == "EleutherAI"
    groups = gain[is_eleuther], gain[~is_eleuther]
    low, high = shuffled_interval(*groups)
    difference = np.mean(groups[0]) - np.mean(groups[1])
    of_survey, of_both = (
        (r_of_depth(side), *fisher_interval(r_of_depth(side), len(side))) for side in (hunt, both)
    )
    return [
        tuple(signed([r_of_depth(sweep)])),
        tuple(signed((*of_survey, *of_both))),
        tuple(f"{p:.3f}" for p in lab_test(tables)),
        tuple(f"{-number:.2f}" for number in (difference, high, low)),
    ]


def r_of_ratio(tables):
    names, r, *_ = ratio_and_gain(tables)
    return tuple(signed((r, *exact_interval(r, len(names)))))


def of_weights(tables, ledger):
    hunt, sweep = models(tables)
    names, _, best, _ = ratio_and_gain(tables)
    larger = larger_by_heads(tables)
    return [
        (f"{best}", f"{len(names)}"),
        r_of_ratio(tables),
        tuple(f"{share:.0f}" for share in (right(sweep), right(hunt), guess(hunt))),
        (f"{sum(larger)}", f"{len(larger)}"),
        (f"{len(missed(tables[CROSS]))}",),
    ]


def of_tuning(tables, ledger):
    return [(f"{len({family for family, _ in last_gains(tables, TWINS, '/Family', '/Variant')})}",)]


SHIFT = Z + stats.norm.ppf(0.8)  # standard errors that are found with a power of 80%


def error_of(low, high):
    """The standard error on Fisher's z that an interval shows."""
    return (math.atanh(high) - math.atanh(low)) / 2 / Z


def units_for(r, error, n):
    """Units like these n, that tell r from 0."""
    return math.ceil((SHIFT * error * math.sqrt(n - 3) / math.atanh(abs(r))) ** 2 + 3)


def of_surprises(tables, ledger):
    _, sweep = models(tables)
    pythia = sweep["pythia-1b"]
    late = third(curves(tables)["pythia"], "late")
    small = {  # the answer, the least draw, the largest; those that are reached first
        model: (value, min(drawn), max(drawn)) for model, (value, drawn) in tables["small"].items()
    }
    assert all(value < 0 for value, _, _ in small.values())
    order = sorted(small, key=lambda model: small[model][1] > small[model][0])
    small_told = tuple(signed([number for model in order for number in small[model]], 3))
    return [
        (*printed_in(ledger, "p3.kleiber.r"), *signed([r_of_depth(sweep)])),
        (f"{pythia['gain']:.3f}", f"{10 ** (1 / pythia['depth']):.3f}"),
        (
            *printed_in(ledger, "p2.abstract.late_range_weak"),
            *(f"{late[0]:+.3f}", *signed(late[1:])),
        ),
        tuple(f"{p:.3f}" for p in lab_test(tables)),
        r_of_ratio(tables),
        small_told,
    ]


TOLD = {
    "p1.neutral": neutral_told,
    "p1.apertus_facts": facts_told,
    "p2.late": late_told,
    "p2.gemma": gemma_told,
    "p2.template": template_told,
    "p2.category_inversion": category_told,
    "p3.depth_gain": depth_told,
    "p3.heritage": heritage_told,
    "p3.spectral": spectral_told,
    "p3.crowding": crowding_told,
    "p3.lstar": lstar_told,
    "p3.gains": gains_told,
    "p3.tuning": tuning_told,
    "p3.anisotropy": anisotropy_told,
    "finding p1.supplement_regimes": regimes,
    "finding p1.control_unrelated": control,
    "finding p1.rounding_of_five": five,
    "finding p1.sample_size": sizes,
    "finding p1.slips": supplement_slips,
    "finding p2.headers": headers,
    "finding p3.figure_sources": figure_sources,
    "finding p3.bentov_law": bentov_law,
    "finding p3.labs": lambda tables, ledger: [tuple(printed_in(ledger, "p3.scope.n_labs"))],
    "finding p3.slips": paper3_slips,
    "story asymmetry": of_asymmetry,
    "story depth": of_depth,
    "story gains": of_gains,
    "story weights": of_weights,
    "story tuning": of_tuning,
    "surprises": of_surprises,
}


def test_no_place_with_a_number_is_left_out(told):
    assert sorted(told) == sorted(TOLD)


@pytest.mark.parametrize("place", TOLD)
def test_every_other_number_is_that_of_numpy_or_of_the_ledger(tables, ledger, told, place):
    assert told[place] == sorted(TOLD[place](tables, ledger))


def test_what_a_claim_says_is_printed(judged, ledger):
    """Its numbers are those of the claims that are counted with it."""
    for claim in judged[0]:
        printed = [printed_in(ledger, part["claim"]) for part in claim.printed]
        known = {*map(float, itertools.chain(*printed))}
        assert {*map(float, numbers_of(claim.says))} <= known, claim.id
