"""Every number that a sentence shows, once more: NumPy and SciPy on the tables of `published/`,
without any rule of the package.

Numbers that a paper prints are those of the ledger, the levels of a family those of the
pre-registration, and the small trained models' those that were recorded; all others are computed
here. A new sentence with a number fails until its numbers stand here too, a tuple for each sentence
in its order.
"""

import csv
import functools
import itertools
import json
import math
import re

import numpy as np
import pytest
import yaml
from scipy import optimize, special, stats

from judged import statistics_of
from layerwise.engine.central import judge_central, read_central
from layerwise.engine.judging import read_trained
from layerwise.engine.seen import told as sentences
from layerwise.engine.words import display_names, label_model
from layerwise.models.registry import read_models
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
    return by_file | {"small": small_models(root)}


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
def judged(root, published, records, works):
    """The central claims with their sentences, and what these saw."""
    return judge_central(
        read_central(root / "claims"),
        PAPERS,
        [*records.values()],
        statistics_of(published, works),
        functools.partial(label_model, names=display_names(read_models(root / "models.yaml"))),
        read_trained(root / "examples" / "measured"),
    )


@pytest.fixture(scope="module")
def told(judged):
    """By place, the numbers of every sentence that has some, a tuple each."""
    central, seen = judged
    said = {f"{claim.id}: reason": claim.reason for claim in central}
    said |= {f"{claim.id}: notes": [*claim.notes, *claim.details] for claim in central}
    said |= {f"finding {name}": sentences(tell, seen) for name, tell in PAPERS.findings.items()}
    said |= {f"story {matter.id}": sentences(matter.tell, seen) for matter in PAPERS.story}
    said |= {f"answer {matter.id}": [matter.answer(seen)] for matter in PAPERS.story}
    said |= {"surprises": sentences(PAPERS.surprises, seen)}
    numbers = {
        place: sorted(filter(None, map(tuple, map(numbers_of, of)))) for place, of in said.items()
    }
    return {place: of for place, of in numbers.items() if of}


def small_models(root):
    """{model: {(question, reading): (value, low, high)}}, as they were recorded."""
    return {
        path.parent.name: {
            (row["question"], row["reading"]): (row["value"], *(row["ends"] or (None, None)))
            for row in json.loads(path.read_text())["rows"]
        }
        for path in sorted((root / "examples" / "measured").glob("*/sensitivity.json"))
    }


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
    """(hunt, sweep): {model: dict of numbers}; `ends` is the interval of the gain at a level."""
    sides = []
    for file, group in ((HUNT, "/tested_results"), (SWEEP, "/models")):
        side = {}
        for entry in rows(tables[file], group):
            gains = series(entry, "/residual_gain_all")
            blocks = series(entry, "/all_layer_gains")
            if len(gains):  # five prompts of each of five categories
                gain, ends = gains.mean(), functools.partial(by_category, gains, np.arange(25) // 5)
            else:
                gain = blocks[-2]
                ends = functools.partial(of_moments, gain, entry["/gain_no_ln_std"], 5)
            side[short(entry)] = {
                "lab": entry.get("/lab", "EleutherAI"),
                "gain": gain,
                "ends": ends,
                "final": blocks[-1],
                "blocks": blocks,
                "depth": len(blocks),
                "bound": 10 ** (1 / len(blocks)),
                "density": entry["/n_heads"] / entry["/d_head"],
                "width": entry["/d_model"],
            }
        sides.append(side)
    return sides


# --- intervals ---


def family(n, level=0.95):
    """The level of one of n tests."""
    return 1 - (1 - level) / n


def of_moments(mean, sd, n, level):
    half = stats.t.ppf((1 + level) / 2, n - 1) * sd / math.sqrt(n - 1)
    return mean - half, mean + half


def by_category(values, categories, level):
    """Student's t over the categories' means, and no narrower than if all prompts were alike."""
    values, categories = np.asarray(values), np.asarray(categories)
    groups = [values[categories == name] for name in dict.fromkeys(categories)]
    means, n = np.array([group.mean() for group in groups]), len(groups)
    half = stats.t.ppf((1 + level) / 2, n - 1) * means.std(ddof=1) / math.sqrt(n)
    freedom = len(values) - n
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / max(freedom, 1)
    error = math.sqrt(sum(within / len(group) for group in groups)) / n
    half = max(half, stats.norm.ppf((1 + level) / 2) * error)
    return means.mean() - half, means.mean() + half


def t_interval(values, level=0.95):
    return tuple(stats.ttest_1samp(values, 0).confidence_interval(level))


def fisher_interval(r, n, level=0.95):
    half = stats.norm.ppf((1 + level) / 2) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def exact_interval(r, n, level=0.95):
    """Of normal series: r / sqrt(1 - r^2) is a normal beside its shift times a chi, over a chi."""
    middles = (np.arange(1000) + 0.5) / 1000
    first, second = (stats.chi.ppf(middles, freedom) for freedom in (n - 1, n - 2))
    limit = r / math.sqrt(1 - r**2) * second[:, None]

    def below(rho):
        return np.mean(special.ndtr(limit - rho / math.sqrt(1 - rho**2) * first))

    def end(share):
        return optimize.brentq(lambda rho: below(rho) - share, -0.9999, 0.9999, xtol=1e-4)

    return end((1 + level) / 2), end((1 - level) / 2)


def widened(r, low, high, level):
    """The ends of a published interval at another level, on Fisher's z."""
    ratio, z = stats.norm.ppf((1 + level) / 2) / Z, math.atanh(r)
    return tuple(math.tanh(z + (math.atanh(end) - z) * ratio) for end in (low, high))


def jackknife(x, y):
    """r with the interval of leaving out one unit in turn, on Fisher's z."""
    n = len(x)
    left = np.arctanh([corr(np.delete(x, k), np.delete(y, k)) for k in range(n)])
    half = stats.t.ppf(0.975, n - 1) * math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    z = math.atanh(corr(x, y))
    return math.tanh(z), math.tanh(z - half), math.tanh(z + half)


def lowest(found):
    """The lowest of several (value, ends by level): its upper end pays for the search."""
    n = len(found)
    value = min(value for value, _ in found)
    low = min(ends(0.95)[0] for _, ends in found)
    return value, low, min(ends(family(n))[1] for _, ends in found)


def highest(found):
    turned = [(-value, lambda level, ends=ends: minus(ends(level))) for value, ends in found]
    value, low, high = lowest(turned)
    return -value, -high, -low


def minus(ends):
    return -ends[1], -ends[0]


def wilson(k, n, level):
    z = stats.norm.ppf((1 + level) / 2)
    middle = (k + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(k * (n - k) / n + z**2 / 4)
    return middle - half, middle + half


def newcombe(k, m, j, n, level):
    (low, high), (other_low, other_high) = wilson(k, m, level), wilson(j, n, level)
    first, second = k / m, j / n
    below = math.hypot(first - low, other_high - second)
    above = math.hypot(high - first, second - other_low)
    return first - second - below, first - second + above


def chance_of_damping(model):
    """By Student's t with 4 degrees of freedom; sure where the 95% interval leaves out 1."""
    low, high = model["ends"](0.95)
    if not low < 1 < high:
        return float(model["gain"] < 1)
    error = (high - low) / 2 / stats.t.ppf(0.975, 4)
    return float(stats.t.cdf((1 - model["gain"]) / error, 4))


def difference_of_shares(first, second, level):
    """(difference, low, high, counts, how many may be counted either way) of two groups."""
    groups = [[*map(chance_of_damping, group)] for group in (first, second)]
    counts = [sum(model["gain"] < 1 for model in group) for group in (first, second)]
    sizes, laws = [len(group) for group in groups], []
    for group in groups:
        law = np.ones(1)
        for chance in group:
            law = np.convolve(law, (1 - chance, chance))
        laws.append(law)
    weights = np.outer(*laws)
    held, ends = 0.0, []
    for k, j in sorted(np.ndindex(weights.shape), key=lambda at: -weights[at]):
        ends.append(newcombe(k, sizes[0], j, sizes[1], level))
        held += weights[k, j]
        if held >= 0.95:
            break
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    value = counts[0] / sizes[0] - counts[1] / sizes[1]
    told = [f"{n}" for pair in zip(counts, sizes, strict=True) for n in pair]
    n_open = sum(0 < chance < 1 for group in groups for chance in group)
    return value, low, high, (*told, f"{n_open}")


def zou(y, a, b, level=0.95):
    """|r(y, a)| - |r(y, b)| with Zou's interval for overlapping correlations."""
    n = len(y)
    a, b = (-side if corr(y, side) < 0 else side for side in (a, b))
    r1, r2, r3 = corr(y, a), corr(y, b), corr(a, b)
    (l1, u1), (l2, u2) = fisher_interval(r1, n, level), fisher_interval(r2, n, level)
    c = ((r3 - r1 * r2 / 2) * (1 - r1**2 - r2**2 - r3**2) + r3**3) / ((1 - r1**2) * (1 - r2**2))
    low = r1 - r2 - math.sqrt((r1 - l1) ** 2 + (u2 - r2) ** 2 - 2 * c * (r1 - l1) * (u2 - r2))
    high = r1 - r2 + math.sqrt((u1 - r1) ** 2 + (r2 - l2) ** 2 - 2 * c * (u1 - r1) * (r2 - l2))
    return r1 - r2, max(low, -1), min(high, 1)


# --- numbers ---


def signed(numbers, decimals=2):
    """Numbers as displayed with a sign."""
    return tuple(f"{number:+.{decimals}f}" for number in numbers)


def shown(numbers, decimals=2, sign="+"):
    """Numbers as reasons display them: at more decimals where these would show zero."""

    def one(number):
        enough = decimals
        while number and float(f"{number:.{enough}f}") == 0:
            enough += 1
        return f"{number:{sign}.{enough}f}"

    return tuple(map(one, numbers))


def column(models, key):
    """A number of every model."""
    return np.array([model[key] for model in models.values()])


def corr(x, y):
    return float(np.corrcoef(x, y)[0, 1])


def printed_in(ledger, claim_id):
    """The numbers that a claim prints."""
    return numbers_of(ledger[claim_id]["printed"])


# --- Paper 1 ---


def neutral(tables, model):
    return np.array([ua(tables[PAPER1[model]], name) for name in NEUTRAL])


def neutral_at(tables, model, level):
    """As displayed: the mean over the neutral categories with its interval."""
    values = neutral(tables, model)
    return signed((values.mean(), *t_interval(values, level)), 3)


def p1_neutral(tables, ledger):
    told = [neutral_at(tables, model, family(4)) for model in PAPER1]
    return [("0.015", "5", *itertools.chain(*told)), ("3", "4", "0", "0", "4")]


def p1_neutral_notes(tables, ledger):
    zone = sum(abs(ua(tables[file], "lifestyle")) < 0.015 for file in PAPER1.values())
    assert zone == sum(abs(neutral(tables, model).mean()) < 0.015 for model in PAPER1)

    def d_without(model, category):
        left = np.array([ua(tables[PAPER1[model]], c) for c in NEUTRAL if c != category])
        return f"{left.mean() / left.std():.2f}"

    (bound,) = printed_in(ledger, "p1.table_dataset.caption.parity")
    return [
        (f"{zone}", f"{len(PAPER1)}"),
        (d_without("llama", "business"),),
        (d_without("mistral", "tech_philosophy"),),
        (*words_within(tables, int(bound) / 100), bound),
        tuple(printed_in(ledger, "p1.readme.effect_rule")),
    ]


def words_within(tables, bound):
    """The largest gap of a pair's word counts over the longer side, %; pairs within, and pairs."""
    words = {}
    for key, count in tables["words of dataset.json"].items():
        _, category, pair, side = key.split("/")
        words.setdefault((category, pair), {})[side] = count
    gaps = [abs(w["a"] - w["b"]) / max(w.values()) for w in words.values()]
    return f"{100 * max(gaps):.0f}", f"{sum(gap <= bound for gap in gaps)}", f"{len(gaps)}"


def p1_positive(tables, ledger):
    at = family(4)
    return [("5", *neutral_at(tables, "apertus", at)), neutral_at(tables, "gemma", at)]


def p1_positive_notes(tables, ledger):
    alone = [t_interval(neutral(tables, model)) for model in ("gemma", "apertus")]
    resampled = []
    for model in ("gemma", "apertus"):
        drawn = np.random.RandomState(42).choice(neutral(tables, model), (10000, 5)).mean(axis=1)
        resampled.append(np.percentile(drawn, (2.5, 97.5)))
    return [
        ("95", *signed(itertools.chain(*alone), 3), f"{100 * family(4):.2f}"),
        ("5", "95", *signed(itertools.chain(*resampled), 3)),
    ]


def p1_numeric_notes(tables, ledger):
    facts = asymmetries(tables, "ground_truth_numeric")
    others = [value for model, value in facts.items() if model != "apertus"]
    apart = [facts[model] - neutral(tables, model).mean() for model in PAPER1]
    return [signed((max(others), min(others), facts["apertus"]), 3), signed(apart)]


def p1_facts_notes(tables, ledger):
    facts = asymmetries(tables, "scientific_facts")
    others = [value for model, value in facts.items() if model != "apertus"]
    ratios = sorted(abs(facts["apertus"] / value) for value in others)
    sizes = {c: abs(ua(tables[PAPER1["apertus"]], c)) for c in (*NEUTRAL, "ground_truth_numeric")}
    *_, second, first = sorted(sizes.values())
    assert max(sizes, key=sizes.get) == "scientific_facts"
    near = [abs(value) < 0.015 for value in others]
    printed = printed_in(ledger, "p1.ext.page.mistral.facts_ua")
    return [
        (
            *signed([facts["apertus"]], 3),
            *(f"{ratio:.0f}" for ratio in ratios[:: len(ratios) - 1]),
            f"{facts['apertus'] - np.mean(others):.3f}",
        ),
        (f"{first - second:.4f}",),
        (f"{sum(near)}", f"{len(near)}"),
        (*printed, *signed([facts["mistral"]], 3)),
    ]


def p1_business(tables, ledger):
    values = [*asymmetries(tables, "business").values()]
    return [signed((np.mean(values), *t_interval(values)), 3)]


def p1_business_notes(tables, ledger):
    by_model = asymmetries(tables, "business")
    assert min(by_model, key=by_model.get) == "apertus"
    first, second, *_, last = sorted(by_model.values())
    return [(f"{len(by_model)}", *signed((first, last), 3)), (f"{second - first:.3f}",)]


# --- Paper 2 ---


PHASES_OF = {"early": ("0", "8"), "late": ("24", "32")}  # of nine layers


def published_means(tables, phase, names):
    """As displayed: the mean r over a phase, with the means of the papers' ends."""
    told = [(*shown(third(curves(tables)[name], phase)), *PHASES_OF[phase]) for name in names]
    return tuple(itertools.chain(*told))


def beside_small_models(tables, question):
    told = []
    for rows in tables["small"].values():
        within, over_all = rows[question, "decides"], rows[question, "all_pairs"]
        told += signed((*within, over_all[0]))
    return tuple(told)


def p2_early(tables, ledger):
    yes, open_ = ("pythia", "apertus"), ("llama",)
    return [published_means(tables, "early", names) for names in (yes, open_)]


def p2_early_notes(tables, ledger):
    by_model = curves(tables)
    first = by_model["llama"][0][0], by_model["apertus"][0][0]
    return [("0", *signed(first)), beside_small_models(tables, "early")]


def p2_late(tables, ledger):
    yes, open_ = ("llama", "apertus"), ("pythia",)
    return [published_means(tables, "late", names) for names in (yes, open_)]


def p2_late_notes(tables, ledger):
    pythia, apertus = curves(tables)["pythia"], curves(tables)["apertus"]
    late = third(pythia, "late")[0]
    t = late * math.sqrt(228 / (1 - late**2))
    assert 2 * stats.t.sf(abs(t), 228) >= 0.05
    strongest = min(apertus, key=lambda n: apertus[n][0])
    density = curve(tables[PYTHIA], metric="/knn_density_asymmetry")
    r, n = tables[PHASES]["/0/late_mean"], 230
    p = 2 * stats.t.sf(abs(r) * math.sqrt((n - 2) / (1 - r**2)), n - 2)
    ends = {key: row for key, row in ledger.items() if re.match(r"p2\.csv\.pythia\.L.*ci_", key)}
    moved = 0
    for key, row in ends.items():
        layer, end = re.search(r"L(\d+)\.ci_(lo|hi)", key).groups()
        ours = pythia[int(layer)][1 if end == "lo" else 2]
        moved += round(ours, int(row["decimals"])) != float(row["printed"])
    return [
        (
            *printed_in(ledger, "p2.abstract.late_range_weak"),
            *signed(pythia[n][0] for n in (24, 28, 32)),
            *("24", "28", "32", f"{late:+.3f}", "0.05"),
        ),
        (*signed([apertus[strongest][0]]), f"{strongest}"),
        beside_small_models(tables, "late"),
        (f"{third(density, 'late')[0]:+.3f}",),
        (f"{min(bound for bound in (0.001, 0.01, 0.05) if p < bound)}",),
        (f"{moved}", f"{len(ends)}"),
        ("24", *printed_in(ledger, "p2.csv.pythia.L24.ci_lo"), f"{pythia[24][1]:+.3f}"),
        ("24",),
    ]


def lowest_late(curve):
    """The late layer with the lowest r, as displayed."""
    layer = min([*curve][2 * (len(curve) // 3) :], key=lambda n: curve[n][0])
    return (*signed(curve[layer]), f"{layer}")


def p2_three(tables, ledger):
    by_model = curves(tables)
    told = {name: lowest_late(by_model[name]) for name in ("llama", "apertus", "pythia", "gemma")}
    assert [name for name in told if float(told[name][2]) >= 0] == ["gemma"]
    gemma = told.pop("gemma")
    return [tuple(itertools.chain(*told.values())), gemma, ("3", "4", "0", "0", "4")]


def p2_three_notes(tables, ledger):
    by_model = curves(tables)
    inverting = [
        any(curve[n][2] < 0 for n in [*curve][2 * (len(curve) // 3) :])
        for curve in by_model.values()
    ]
    return [(f"{sum(inverting)}", f"{len(inverting)}")]


def turn(curve):
    """The nearer to zero of the first r and of minus the last, as displayed."""
    first, last = (curve[n] for n in (min(curve), max(curve)))
    found = [
        (first[0], lambda level: widened(*first, level)),
        (-last[0], lambda level: minus(widened(*last, level))),
    ]
    where = min(curve) if first[0] < -last[0] else max(curve)
    return (*shown(lowest(found)), f"{where}")


def steps_apart(one, other):
    """How many steps lie between two crossings, and between their brackets, as displayed."""
    brackets, places = [], []
    for curve in (one, other):
        ends = [curve[n][1:] for n in sorted(curve)]
        up = len([*itertools.takewhile(lambda end: end[0] > 0, ends)])
        down = len(ends) - len([*itertools.takewhile(lambda end: end[1] < 0, ends[::-1])])
        brackets.append((up, down))
        places.append(sum(r > 0 for r, *_ in curve.values()))
    (a, b), (c, d) = brackets
    return shown((abs(places[0] - places[1]), max(c - b, a - d, 0), max(d - a, b - c)), 0, "")


def p2_transition(tables, ledger):
    pythia, llama, apertus = (curves(tables)[name] for name in ("pythia", "llama", "apertus"))
    return [
        (*turn(pythia), *turn(llama)),
        turn(apertus),
        steps_apart(pythia, llama),
        (*steps_apart(pythia, apertus), *steps_apart(llama, apertus)),
    ]


def p2_extremum(tables, ledger):
    apertus = curves(tables)["apertus"]
    there = apertus[28]

    def difference(other):
        def ends(level):
            (low, high), (far, near) = (np.arctanh(widened(*r, level)) for r in (there, other))
            return low - near, high - far

        return np.arctanh(there[0]) - np.arctanh(other[0]), ends

    apart = [difference(r) for n, r in apertus.items() if n != 28]
    return [("28",), signed(highest(apart))]


def p2_extremum_notes(tables, ledger):
    apertus = curves(tables)["apertus"]
    assert min(apertus, key=lambda n: apertus[n][0]) == 28
    return [("28", *signed((apertus[28][0], apertus[32][0])))]


def p2_gemma(tables, ledger):
    by_model = curves(tables)
    weakest = max(
        (lowest_late(curve)[0] for curve in by_model.values() if float(lowest_late(curve)[2]) < 0),
        key=float,
    )
    return [(weakest,), (weakest, *lowest_late(by_model["gemma"]))]


def p2_gemma_notes(tables, ledger):
    by_model = curves(tables)
    gemma = by_model["gemma"]
    layers = np.array_split([*gemma], [3, 6])  # thirds of the list
    ours = [f"{end}" for part in layers for end in (part[0], part[-1])]
    printed = (
        printed_in(ledger, f"p2.method.partition.{phase}_gemma")
        for phase in ("early", "mid", "late")
    )
    return [
        signed((gemma[18][0], third(gemma, "late")[0])),
        signed([third(by_model["pythia"], "late")[0]], 3),
        (*ours, *itertools.chain(*printed)),
    ]


def highest_of_template(tables):
    with_ = curve(tables[TEMPLATE], "/results_with_template", low="ci_lo", high="ci_hi")
    layer = max(with_, key=lambda n: with_[n][0])
    return (*signed(with_[layer]), f"{layer}")


def p2_template(tables, ledger):
    return [highest_of_template(tables)]


def p2_template_notes(tables, ledger):
    with_, without = (
        curve(tables[TEMPLATE], f"/results_{condition}_template", low="ci_lo", high="ci_hi")
        for condition in ("with", "without")
    )
    means = [third(with_, place)[0] for place in ("early", "mid", "late")]
    printed = [f"{float(n)}" for n in printed_in(ledger, "p2.table_template.without.early")]
    return [
        (*highest_of_template(tables)[:3], *signed((max(means), min(means)))),
        (*signed([third(without, "early")[0]]), *printed),
        signed([third(curves(tables)["llama"], "early")[0]]),
    ]


def six_categories(tables):
    names = (*NEUTRAL, "ground_truth_numeric")
    x = np.array([ua(tables[PYTHIA_UA], name) for name in names])
    return x, np.array([tables[PYTHIA_UA][f"/{name}/output_preference"] for name in names])


def p2_category(tables, ledger):
    return [("6", *signed(jackknife(*six_categories(tables))))]


def p2_category_notes(tables, ledger):
    x, y = six_categories(tables)
    test = stats.pearsonr(x, y)
    left = [stats.pearsonr(np.delete(x, n), np.delete(y, n)) for n in range(len(x))]
    weakest = min(left, key=lambda test: abs(test.statistic))
    small = tables[SCALING]["/models/Pythia-410M/layer_results/24/correlation"]
    assert small < test.statistic < exact_interval(small, len(x))[1]
    ranks = [stats.rankdata(side) for side in (x, y)]
    drawn = [abs(corr(ranks[0], order)) for order in itertools.permutations(ranks[1])]
    p_of_ranks = np.mean(np.array(drawn) >= abs(corr(*ranks)) - 1e-12)
    by_layer = curve(tables[BOOTSTRAP], "/layer_results")
    title = printed_in(ledger, "p2.nb001.title_r")
    return [
        (f"{test.statistic:+.3f}", f"{len(x)}", f"{test.pvalue:.3f}", *title),
        (f"{weakest.statistic:+.2f}", f"{weakest.pvalue:.3f}"),
        (f"{corr(*ranks):+.2f}", f"{p_of_ranks:.3f}"),
        (f"{small:+.3f}", f"{len(x)}"),
        tuple(f"{n}" for n, (_, low, high) in by_layer.items() if not low <= 0 <= high),
    ]


def p2_bins(tables, ledger):
    by_layer = curve(tables[BINS], "/bootstrap_results")
    layer = min((8, 12), key=lambda n: by_layer[n][0])
    at, both = family(9), family(2, family(9))
    low = min(widened(*by_layer[n], at)[0] for n in (8, 12))
    high = min(widened(*by_layer[n], both)[1] for n in (8, 12))
    return [("20", *signed((by_layer[layer][0], low, high)), f"{layer}")]


def p2_bins_notes(tables, ledger):
    by_layer = curve(tables[BINS], "/bootstrap_results")
    return [(*signed([by_layer[8][0]]), "8", *signed([by_layer[12][0]]), "12")]


def middle_layers(tables):
    """The higher r over the categories of layers 8 and 12, as displayed."""
    r = {n: tables[LAYERS][f"/strategies/layer_{n}/correlation"] for n in (8, 12)}
    found = [(value, functools.partial(exact_interval, value, 6)) for value in r.values()]
    return signed(highest(found)), f"{max(r, key=r.get)}"


def p2_layers(tables, ledger):
    numbers, layer = middle_layers(tables)
    return [(*numbers, layer), *p2_category(tables, ledger)]


def p2_layers_notes(tables, ledger):
    numbers, layer = middle_layers(tables)
    first = [curve(tables[BOOTSTRAP], "/layer_results")[n][0] for n in (0, 4)]
    return [(layer, *numbers), ("0", "4", *signed(first))]


def peaks(tables):
    found = []
    for size in ("410M", "1.4B", "6.9B", "12B"):
        start = f"/models/Pythia-{size}"
        pattern = re.compile(rf"{re.escape(start)}/layer_results/(\d+)/correlation")
        matches = filter(None, map(pattern.fullmatch, tables[SCALING]))
        r = {int(match[1]): tables[SCALING][match[0]] for match in matches}
        found.append(100 * max(r, key=r.get) / tables[SCALING][f"{start}/n_layers"])
    return np.array(found)


def p2_scaling(tables, ledger):
    fewest = next(n for n in range(2, 9) if 2 / math.factorial(n) < 0.05)  # orders of the sizes
    return [("10", *shown([peaks(tables).std()], 0, ""), f"{fewest}")]


def p2_scaling_notes(tables, ledger):
    found = peaks(tables)
    return [(f"{len(found)}", f"{found.mean():.0f}", f"{found.std():.0f}")]


# --- Paper 3: gains ---


def r_of_depth(models):
    return corr(column(models, "depth"), column(models, "gain"))


def p3_depth(tables, ledger):
    _, sweep = models(tables)
    r = r_of_depth(sweep)
    return [signed((r, *exact_interval(r, len(sweep), family(3))))]


def of_survey(tables):
    """r of depth and gain over the survey, and over survey and sweep, as displayed."""
    hunt, sweep = models(tables)
    sides = [(r_of_depth(side), len(side)) for side in (hunt, hunt | sweep)]
    return [signed((r, *fisher_interval(r, n))) for r, n in sides]


def p3_depth_notes(tables, ledger):
    hunt, sweep = models(tables)
    depth, gain, density = (column(sweep, key) for key in ("depth", "gain", "density"))
    test = stats.pearsonr(depth, gain)
    ranks = [stats.rankdata(side) for side in (depth, gain)]
    orders = np.array(list(itertools.permutations(ranks[1])))
    drawn = np.abs((orders - 4.5) @ (ranks[0] - 4.5))
    p = np.mean(drawn >= abs((ranks[1] - 4.5) @ (ranks[0] - 4.5)) - 1e-9)
    blocks = np.concatenate([m["blocks"][:-1] for m in sweep.values() if m["gain"] < 1])
    final = column(hunt, "final")
    printed = [printed_in(ledger, f"p3.kleiber.{name}")[0] for name in ("r", "p")]
    return [
        (
            *printed,
            f"{corr(density, gain):+.3f}",
            f"{test.statistic:+.3f}",
            f"{test.pvalue:.3f}",
        ),
        *of_survey(tables),
        (f"{corr(*ranks):+.2f}", f"{p:.3f}"),
        (f"{sum(blocks < 1)}", f"{len(blocks)}", "1"),
        (
            *printed_in(ledger, "p3.notebook.hunt.shrunk"),
            f"{sum(column(sweep, 'final') < 1)}",
            f"{len(sweep)}",
            f"{min(final):.2g}",
            f"{max(final):.2g}",
        ),
    ]


def p3_bound(tables, ledger):
    hunt, sweep = models(tables)
    told = {"no": [], "open": [], "yes": []}
    for name, model in (hunt | sweep).items():
        value = model["gain"] / model["bound"]
        alone, at_once = (np.divide(model["ends"](at), model["bound"]) for at in (0.95, family(23)))
        word = "open" if name not in sweep else "yes" if alone[1] < 1 else "no"
        if word == "no":
            assert at_once[0] > 1
        told[word].append(shown((value, *(alone if word == "yes" else at_once)), 3, ""))
    return [
        ("1", *itertools.chain(*found[:4]), *([f"{len(found) - 4}"] if len(found) > 4 else []))
        for found in told.values()
    ]


def p3_bound_notes(tables, ledger):
    _, sweep = models(tables)
    model = sweep["pythia-1b"]
    products = [np.prod(model["blocks"][1:-1]) for model in sweep.values()]
    expanding = sum(product > 1 for product in products)
    return [
        (f"{model['gain']:.3f}", f"{model['bound']:.3f}"),
        ("1", f"{expanding}", f"{len(sweep)}", f"{max(products):.1f}"),
    ]


def split(models, key, *values):
    """Models of these labs, say, and the others."""
    first = [model for model in models.values() if model[key] in values]
    return first, [model for model in models.values() if model[key] not in values]


def of_labs(tables):
    hunt, _ = models(tables)
    *numbers, told = difference_of_shares(*split(hunt, "lab", "EleutherAI"), family(3))
    return signed(numbers), told


def p3_heritage(tables, ledger):
    numbers, told = of_labs(tables)
    return [("16", *numbers, *told)]


def fisher(eleuther, others):
    table = [[sum(side), len(side) - sum(side)] for side in (eleuther, others)]
    return stats.fisher_exact(table).pvalue


def damps(models):
    return np.array([model["gain"] < 1 for model in models])


def p3_heritage_notes(tables, ledger):
    hunt, sweep = models(tables)
    own, others = split(hunt, "lab", "EleutherAI")
    meta, _ = split(hunt, "lab", "Meta")
    pooled = [damps(group) for group in split(hunt | sweep, "lab", "EleutherAI")]
    gpt2 = [gains.mean() > 1 for gains in last_gains(tables, GPT2, "/Model").values()]
    counts = sum(damps(own)), len(own), sum(damps(others)), len(others)
    by_means = np.mean(damps(own)) - np.mean(damps(others)), *newcombe(*counts, family(3))
    shares = np.mean(damps(own)), 1 - np.mean(damps(meta)), 1 - np.mean(damps(others))
    near = [m for m in others if m["gain"] < 1]
    assert sorted(m["lab"] for m in near) == ["BigScience", "Meta"]
    unsure = sum(m["ends"](0.95)[1] > 1 for m in near)
    printed = [
        float(ledger[f"p3.heritage.{name}"]["printed"]) / 100
        for name in ("eleuther_dampen", "others_expand")
    ]
    damping = round(printed[0] * len(own)), round((1 - printed[1]) * len(others))
    table = [[n, len(side) - n] for n, side in zip(damping, (own, others), strict=True)]
    of_sweep = f"{100 * np.mean(damps(sweep.values())):.0f}"
    mean = np.mean([model["gain"] for model in own])
    return [
        (*signed(by_means), "1"),
        (
            *(f"{100 * share:.0f}" for share in shares),
            *printed_in(ledger, "p3.heritage.others_expand"),
            f"{100 * np.mean(gpt2):.0f}",
        ),
        (
            f"{fisher(damps(own), damps(others)):.3f}",
            *printed_in(ledger, "p3.heritage.fisher_p"),
            f"{fisher(*pooled):.3f}",
        ),
        (f"{len({model['lab'] for model in hunt.values()})}",),
        ("1", f"{unsure}", "1"),
        (f"{stats.fisher_exact(table).pvalue:.3f}",),
        (f"{mean:.3f}", *printed_in(ledger, "p3.fig2.EleutherAI.mean")),
        (f"{100 * np.mean(pooled[0]):.0f}", of_sweep),
        (
            *printed_in(ledger, "p3.contrib.validated_across"),
            *(f"{n}" for n in (len(sweep), len(hunt), len(rows(tables[SPECTRAL], "/results")))),
        ),
        (of_sweep, "1"),
    ]


def crowded(models):
    dense = {name: {**model, "dense": model["density"] >= 0.2} for name, model in models.items()}
    return split(dense, "dense", True)


def p3_crowding(tables, ledger):
    hunt, _ = models(tables)
    *numbers, told = difference_of_shares(*crowded(hunt), 0.95)
    return [("16", *signed(numbers), *told)]


def right(models, key="gain"):
    """Of how many models, %, the rule on the density is right."""
    return 100 * np.mean((column(models, "density") >= 0.2) == (column(models, key) < 1))


def guess(models):
    """Of how many models, %, one answer for all is right."""
    damping = np.mean(column(models, "gain") < 1)
    return 100 * max(damping, 1 - damping)


def p3_crowding_notes(tables, ledger):
    hunt, sweep = models(tables)
    *of_sizes, told = difference_of_shares(*crowded(sweep), 0.95)
    density, damping = column(sweep, "density"), column(sweep, "gain") < 1
    ends = max(density[~damping]), min(density[damping])
    printed = (f"{float(end):g}" for end in printed_in(ledger, "p3.crowding.rho_crit"))
    return [
        (
            f"{right(hunt):.0f}",
            *printed_in(ledger, "p3.appB.acc_after"),
            f"{right(hunt, 'final'):.0f}",
            f"{guess(hunt):.0f}",
        ),
        (f"{right(sweep):.0f}", f"{right(hunt | sweep):.0f}", f"{guess(hunt | sweep):.0f}"),
        (*signed(of_sizes), *told),
        (*(f"{end:.2f}" for end in ends), *printed),
    ]


def columns_of(models):
    gain, density, depth = (column(models, key) for key in ("gain", "density", "depth"))
    other = (column(models, "lab") != "EleutherAI").astype(float)
    return gain, other, density, np.log(12 * depth * column(models, "width") ** 2)


def p3_hierarchy(tables, ledger):
    hunt, _ = models(tables)
    gain, other, density, size = columns_of(hunt)
    second = zou(gain, density, size, family(2))
    return [(f"{len(hunt)}", *signed(second)), signed(zou(gain, other, density))]


def p3_hierarchy_notes(tables, ledger):
    hunt, sweep = models(tables)
    labs = {model["lab"] for model in hunt.values()}
    return [signed(zou(*columns_of(hunt | sweep)[:3])), (f"{len(labs) - 1}",), ("12",)]


# --- weights, traces, the critical layer ---


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


def r_of_ratio(tables):
    names, r, *_ = ratio_and_gain(tables)
    return signed((r, *exact_interval(r, len(names), family(3))))


def p3_spectral(tables, ledger):
    names, *_ = ratio_and_gain(tables)
    return [(f"{len(names)}", *r_of_ratio(tables))]


def p3_spectral_notes(tables, ledger):
    hunt, sweep = models(tables)
    gained, norms = hunt | sweep, norms_by_model(tables)
    names, _, best, constant = ratio_and_gain(tables)
    last, first = (end(names, key=lambda n: norms[n][2]) for end in (max, min))
    assert gained[last]["ends"](0.95)[0] > 1 > gained[first]["ends"](0.95)[1]

    def mean(place, belongs):
        return np.mean([entry[place] for name, entry in norms.items() if belongs(name, entry[0])])

    meta = mean(2, lambda _, lab: lab == "Meta")
    values = mean(1, lambda _, lab: lab == "EleutherAI") / mean(1, lambda _, lab: lab == "Meta")
    entries = rows(tables[SPECTRAL], "/results")
    pythia = np.mean([late_square(e) for e in entries if "/pythia-" in e["/model"]])
    others = [late_square(e) for e in entries if e["/lab"] != "EleutherAI"]
    of_meta = [late_square(e) for e in entries if e["/lab"] == "Meta"]
    p = f"{p_of_norms(tables):.3f}"
    return [
        (f"{best}", f"{len(names)}", f"{constant}"),
        ("1",),
        (f"{values:.1f}", p),
        (
            f"{mean(2, lambda n, _: n.startswith('pythia')) / meta:.1f}",
            f"{mean(2, lambda _, lab: lab == 'EleutherAI') / meta:.1f}",
        ),
        ("1",),
        (p,),
        (f"{pythia / np.mean(others):.0f}", *printed_in(ledger, "p3.figA5.ratio")),
        (f"{pythia / np.mean(of_meta):.0f}",),
    ]


def late_square(entry):
    norms = series(entry, "/W_V_spectral_norm")
    return np.mean(norms[len(norms) - len(norms) // 3 :] ** 2)


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


def factor(sides, traces):
    """The mean trace of expanding models over that of damping ones."""
    expanding, damping = (
        np.mean([trace for name, trace in traces.items() if sides[name] == side])
        for side in ("EXPAND", "DAMPEN")
    )
    return expanding / damping


def p3_trace(tables, ledger):
    fewest = next(n for n in range(2, 20) if 2 / math.comb(n, n // 2) < 0.05)  # permutations
    return [("2", *shown([factor(*sides_and_traces(tables, "full"))], sign=""), f"{fewest}")]


def p3_trace_notes(tables, ledger):
    (sides, by_heads), (_, full) = (
        sides_and_traces(tables, kind) for kind in ("multihead", "full")
    )
    larger = larger_by_heads(tables)
    hunt, sweep = models(tables)
    gained = hunt | sweep
    measured = {
        name: ("EXPAND" if gained[name]["gain"] > 1 else "DAMPEN") if name in gained else side
        for name, side in sides.items()
    }
    return [
        ("4",),
        (f"{factor(sides, full):.1f}", *printed_in(ledger, "p3.h4v2.finding.ratio")),
        (f"{factor(sides, by_heads):.1f}", f"{sum(larger)}", f"{len(larger)}"),
        (
            f"{sweep['pythia-160m']['gain']:.2f}",
            *(f"{factor(measured, traces):.1f}" for traces in (full, by_heads)),
        ),
        (f"{by_heads['gpt2'] / by_heads['opt-125m']:.0f}",),
    ]


def formula(n_layers, n_heads):
    return n_layers * (0.11 + 0.012 * n_layers + 4.9 / n_heads)


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


def p3_lstar(tables, ledger):
    differences = [ours - half for ours, half in missed(tables[CROSS]).values()]
    numbers = np.mean(differences), *t_interval(differences)
    return [(f"{len(differences)}", *signed(numbers, 1))]


def p3_lstar_notes(tables, ledger):
    miss = missed(tables[CROSS])
    fitted = [*rows(tables[TRACES], "/results"), *rows(tables[EXTENDED], "/extended_results")]
    fitted = [entry for entry in fitted if "Mistral" not in entry["/model"]]
    seen = {short(entry) for entry in fitted}
    unseen = np.mean([errors for name, errors in miss.items() if name not in seen], axis=0)
    within, shapes = [], []
    for entry in fitted:
        n_layers, n_heads = entry["/n_layers"], entry["/n_heads"]
        trace = series(entry, "/traces_mh" if "/traces_mh/0" in entry else "/traces_full")
        layer = steepest(trace)
        shapes.append((n_layers, n_heads, layer / n_layers))
        guesses = formula(n_layers, n_heads), n_layers / 2
        within.append([100 * abs(guess - layer) / n_layers for guess in guesses])
    rounded, half = np.mean(within, axis=0)
    columns = np.array([(1, n_layers, 1 / n_heads) for n_layers, n_heads, _ in shapes])
    depths = np.array([depth for *_, depth in shapes])
    least = least_error(columns, depths)
    percent = [
        100 * abs(formula(entry["/L"], entry["/H"]) / entry["/L_star_empirical"] - 1)
        for entry in rows(tables[CROSS], "/results")
    ]
    without = [ours for name, (ours, _) in miss.items() if "bloom" not in name]
    signs = [ours for ours, _ in missed(tables[SIGNS]).values()]
    mean = np.mean(list(miss.values()), axis=0)
    return [
        tuple(f"{error:.1f}" for error in mean),
        (f"{len(miss.keys() & seen)}",),
        tuple(f"{error:.1f}" for error in unseen),
        (f"{np.mean(percent):.1f}",),
        (f"{least:.1f}", f"{rounded:.1f}", f"{half:.1f}"),
        (f"{np.mean(signs):.1f}",),
        (f"{np.mean(without):.1f}",),
    ]


def least_error(columns, depths):
    """The smallest mean error, % of depth, of a formula through three of the models."""
    errors = []
    for three in map(list, itertools.combinations(range(len(depths)), 3)):
        if np.linalg.matrix_rank(columns[three]) == 3:
            fit = columns @ np.linalg.solve(columns[three], depths[three])
            errors.append(100 * np.mean(np.abs(fit - depths)))
    return min(errors)


# --- the benchmark, tuned models, the profile ---


def last_gains(tables, file, *keys):
    by_name = {}
    for row in rows(tables[file]):
        by_name.setdefault(tuple(row[key] for key in keys), []).append(row["/Last_Gain"])
    return {name: np.array(gains) for name, gains in by_name.items()}


BENCHMARKED = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")


def benchmark(tables):
    """{model: (gains, categories)} of the same prompts in the same order."""
    by_model = {name: [] for name in BENCHMARKED}
    for row in rows(tables[BENCHMARK]):
        by_model[row["/Model"]].append((row["/Last_Gain"], row["/Category"], row["/Complexity"]))
    columns = {name: [*zip(*found, strict=True)] for name, found in by_model.items()}
    assert len({tuple(column[1:]) for column in columns.values()}) == 1
    return {name: (np.array(column[0]), column[1]) for name, column in columns.items()}


def mean_at(gains, categories, level, sign=""):
    return shown((np.mean(gains), *by_category(gains, categories, level)), sign=sign)


def p3_gains(tables, ledger):
    by_model = benchmark(tables)
    pythia, mistral, llama, gemma = by_model.values()
    steps = [
        (np.subtract(second[0], first[0]), first[1])
        for first, second in itertools.pairwise(by_model.values())
    ]
    told = [mean_at(*step, 0.95, "+") for step in steps]
    least = min(told, key=lambda step: float(step[0]) / (float(step[0]) - float(step[1])))
    return [
        ("1", *mean_at(*pythia, 0.95)),
        ("1", "5", *mean_at(*mistral, family(4))),
        ("1", *mean_at(*llama, 0.95), *mean_at(*gemma, 0.95)),
        least,
    ]


def whole_sequence(tables):
    """Llama's last gains of whole-sequence norms, a text each: mean and interval, as displayed."""
    keys = [key for key in tables[INPUTS] if re.fullmatch(r"/results/[^/]+/gains/31", key)]
    gains = [tables[INPUTS][key] for key in keys]
    numbers = np.mean(gains), *t_interval(gains)
    return tuple(f"{number:.2f}" for number in numbers), f"{len(gains)}"


def p3_gains_notes(tables, ledger):
    by_model = benchmark(tables)
    means = {name: gains.mean() for name, (gains, _) in by_model.items()}
    assert sorted(means, key=means.get) == [*BENCHMARKED]
    numbers, n_texts = whole_sequence(tables)
    of_mistral = {
        category: gains.mean()
        for (name, category), gains in last_gains(tables, BENCHMARK, "/Model", "/Category").items()
        if name == "Mistral-7B"
    }
    nonsense = of_mistral.pop("Nonsense")
    pythia = [row for row in rows(tables[BENCHMARK]) if row["/Model"] == "Pythia-6.9B"]
    r = corr([row["/Entropy"] for row in pythia], [row["/Last_Gain"] for row in pythia])
    pangram = tables[INPUTS]["/results/5_Original_Test/gains/31"]
    others = min(of_mistral.values()), max(of_mistral.values())
    return [
        (*numbers, n_texts, f"{means['LLaMA-3.1-8B']:.2f}"),
        tuple(f"{gain:.2f}" for gain in (nonsense, *others)),
        tuple(f"{gain:.2f}" for gain in (means["Pythia-6.9B"], means["Gemma-7B"])),
        (f"{r:.2f}", "1", "1"),
        (f"{pangram:.2f}", *printed_in(ledger, "p3.notebook.inputdep.pangram")),
    ]


def twins(tables):
    """{family: ((gains, categories) of the base model, of the tuned one)}."""
    found = {}
    for row in rows(tables[TWINS]):
        of_family = found.setdefault(row["/Family"], {"base": [], "instruct": []})
        of_family[row["/Variant"]].append((row["/Last_Gain"], row["/Category"]))
    return {
        family: tuple(zip(*side, strict=True) for side in sides.values())
        for family, sides in found.items()
    }


def p3_tuning(tables, ledger):
    families = {name: [tuple(side) for side in pair] for name, pair in twins(tables).items()}
    clear, unsure = [], 0
    for base, tuned in families.values():
        (low, high), ends = (by_category(*side, 0.95) for side in (base, tuned))
        assert np.mean(base[0]) > 1
        is_sure = not low < 1 < high
        unsure += not is_sure or ends[0] < 1 < ends[1]
        clear.append(is_sure)
    (least,) = [pair for pair, is_sure in zip(families.values(), clear, strict=True) if not is_sure]
    _, tuned = least
    farthest = max(abs(end - 1) for end in by_category(*tuned, family(3)))
    n = len(families)
    fewest = next(k for k in range(1, 99) if stats.beta.ppf(0.025, k, 1) > 0.5)
    low = stats.beta.ppf(0.025, n - 1, 2)  # of one family less
    return [
        ("1", "0.5", *shown((1, low, 1), sign=""), f"{unsure}", f"{fewest}"),
        ("1", "5", *signed((np.mean(tuned[0]) - 1, -farthest, farthest))),
    ]


def p3_tuning_notes(tables, ledger):
    families = {name: [tuple(side) for side in pair] for name, pair in twins(tables).items()}
    means = {name: [np.mean(gains) for gains, _ in pair] for name, pair in families.items()}
    assert min(itertools.chain(*means.values())) > 1
    change = {name: 100 * abs(1 - tuned / base) for name, (base, tuned) in means.items()}
    largest = max(change, key=change.get)
    assert largest == "Gemma-7B"
    above = [
        (np.mean(tuned[0]), *by_category(*tuned, 0.95))
        for base, tuned in families.values()
        if min(by_category(*side, 0.95)[0] for side in (base, tuned)) > 1
    ]
    turned = [
        (first > 1) != (second > 1)
        for base, tuned in families.values()
        for first, second in zip(base[0], tuned[0], strict=True)
    ]
    printed = printed_in(ledger, "p3.notebook.twin.correlation")
    return [
        ("1", *(f"{mean:.2f}" for mean in means[largest]), f"{change[largest]:.0f}"),
        ("1", *(f"{number:.2f}" for numbers in above for number in numbers)),
        (f"{sum(turned)}", f"{len(turned)}", "1"),
        (*printed, f"{corr(*zip(*means.values(), strict=True)):.2f}"),
    ]


def p3_anisotropy_notes(tables, ledger):
    shares = series(tables[PROFILE], "/intrinsic_dim_ratio")
    peak = int(np.argmax(shares))
    cosines = series(tables[PROFILE], "/avg_cos_sim")
    assert peak == 1 + np.argmin(cosines[1:-1])
    slopes = [np.polyfit(range(len(part)), part, 1)[0] for part in (shares[peak:], shares[peak:-1])]
    pythia = curves(tables)["pythia"]
    negative = next(n for n, (r, *_) in pythia.items() if r < 0)
    (typed,) = printed_in(ledger, "p3.aniso.L_star_paper2")
    return [
        (f"{peak}", *signed(slopes, 4)),
        ("1", f"{len(cosines) - 2}", f"{cosines[peak]:.3f}"),
        (f"{int(typed) - peak}", typed, f"{negative}", f"{negative - peak}"),
        (typed,),
    ]


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
    zone = sum(abs(ua(tables[file], "lifestyle")) < 0.015 for file in PAPER1.values())
    ends = [neutral_at(tables, model, family(4))[1:] for model in ("gemma", "apertus")]
    return [(f"{zone}", f"{len(PAPER1)}"), tuple(itertools.chain(*ends))]


def of_depth(tables, ledger):
    return [signed([curves(tables)["pythia"][32][0]])]


def of_laws(tables, ledger):
    numbers, told = of_labs(tables)
    hunt, sweep = models(tables)
    names, _, best, _ = ratio_and_gain(tables)
    larger = larger_by_heads(tables)
    return [
        tuple(itertools.chain(*of_survey(tables))),
        (*told, *numbers),
        (f"{best}", f"{len(names)}"),
        tuple(f"{share:.0f}" for share in (right(sweep), right(hunt), guess(hunt))),
        (f"{sum(larger)}", f"{len(larger)}"),
        (f"{len(missed(tables[CROSS]))}",),
        (f"{len(twins(tables))}",),
        whole_sequence(tables)[0],
    ]


def in_layers(tables, phase):
    """Mean r of three models, those first whose published interval lies on the claimed side."""
    by_model = {model: third(curves(tables)[model], phase) for model in BASE}
    side = {"early": 1, "late": -1}[phase]
    ordered = sorted(BASE, key=lambda model: min(side * end for end in by_model[model][1:]) <= 0)
    numbers = []
    for model in ordered:
        r, *ends = by_model[model]
        numbers += [f"{r:+.3f}" if abs(r) < 0.005 else f"{r:+.2f}", *signed(ends)]
    return tuple(numbers)


BASE = ("pythia", "llama", "apertus")


def answer_preference(tables, ledger):
    return [("230", *in_layers(tables, "early"))]


def answer_depth(tables, ledger):
    return [(*in_layers(tables, "late"), *highest_of_template(tables)[:3])]


def excess_of_pythia(tables):
    """The gain of Pythia-1B over its bound, as one of the 23 models that are asked."""
    hunt, sweep = models(tables)
    model = sweep["pythia-1b"]
    ends = model["ends"](family(len(hunt | sweep)))
    return [value / model["bound"] for value in (model["gain"], *ends)]


def answer_laws(tables, ledger):
    hunt, sweep = models(tables)
    names, *_ = ratio_and_gain(tables)
    return [
        (
            *(*p3_depth(tables, ledger)[0], f"{len(sweep)}"),
            *(f"{value:.2f}" for value in excess_of_pythia(tables)),
            *(*of_labs(tables)[0], f"{len(hunt)}"),
            *(*r_of_ratio(tables), f"{len(names)}"),
        )
    ]


def of_surprises(tables, ledger):
    _, sweep = models(tables)
    late = third(curves(tables)["pythia"], "late")
    return [
        (
            *printed_in(ledger, "p2.abstract.late_range_weak"),
            *(f"{late[0]:+.3f}", *signed(late[1:])),
        ),
        (*printed_in(ledger, "p3.kleiber.r"), *signed([r_of_depth(sweep)])),
        tuple(f"{100 * value - 100:.0f}" for value in excess_of_pythia(tables)),
        of_labs(tables)[0],
        r_of_ratio(tables),
    ]


TOLD = {
    "p1.neutral: reason": p1_neutral,
    "p1.neutral: notes": p1_neutral_notes,
    "p1.positive: reason": p1_positive,
    "p1.positive: notes": p1_positive_notes,
    "p1.numeric: notes": p1_numeric_notes,
    "p1.apertus_facts: notes": p1_facts_notes,
    "p1.business: reason": p1_business,
    "p1.business: notes": p1_business_notes,
    "p2.early: reason": p2_early,
    "p2.early: notes": p2_early_notes,
    "p2.late: reason": p2_late,
    "p2.late: notes": p2_late_notes,
    "p2.three_of_four: reason": p2_three,
    "p2.three_of_four: notes": p2_three_notes,
    "p2.transition: reason": p2_transition,
    "p2.extremum: reason": p2_extremum,
    "p2.extremum: notes": p2_extremum_notes,
    "p2.gemma: reason": p2_gemma,
    "p2.gemma: notes": p2_gemma_notes,
    "p2.template: reason": p2_template,
    "p2.template: notes": p2_template_notes,
    "p2.bins: reason": p2_bins,
    "p2.bins: notes": p2_bins_notes,
    "p2.layers: reason": p2_layers,
    "p2.layers: notes": p2_layers_notes,
    "p2.scaling: reason": p2_scaling,
    "p2.scaling: notes": p2_scaling_notes,
    "p2.category_inversion: reason": p2_category,
    "p2.category_inversion: notes": p2_category_notes,
    "p3.depth_gain: reason": p3_depth,
    "p3.depth_gain: notes": p3_depth_notes,
    "p3.bound: reason": p3_bound,
    "p3.bound: notes": p3_bound_notes,
    "p3.heritage: reason": p3_heritage,
    "p3.heritage: notes": p3_heritage_notes,
    "p3.spectral: reason": p3_spectral,
    "p3.spectral: notes": p3_spectral_notes,
    "p3.crowding: reason": p3_crowding,
    "p3.crowding: notes": p3_crowding_notes,
    "p3.trace: reason": p3_trace,
    "p3.trace: notes": p3_trace_notes,
    "p3.lstar: reason": p3_lstar,
    "p3.lstar: notes": p3_lstar_notes,
    "p3.gains: reason": p3_gains,
    "p3.gains: notes": p3_gains_notes,
    "p3.tuning: reason": p3_tuning,
    "p3.tuning: notes": p3_tuning_notes,
    "p3.hierarchy: reason": p3_hierarchy,
    "p3.hierarchy: notes": p3_hierarchy_notes,
    "p3.anisotropy: notes": p3_anisotropy_notes,
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
    "story preference": of_asymmetry,
    "story depth": of_depth,
    "story laws": of_laws,
    "answer preference": answer_preference,
    "answer depth": answer_depth,
    "answer laws": answer_laws,
    "surprises": of_surprises,
}


def test_no_place_with_a_number_is_left_out(told):
    assert sorted(told) == sorted(TOLD)


@pytest.mark.parametrize("place", TOLD)
def test_every_number_is_that_of_numpy_or_of_the_ledger(tables, ledger, told, place):
    assert told[place] == sorted(TOLD[place](tables, ledger))


def test_what_a_claim_says_is_printed(judged, ledger):
    """Its numbers are those of the claims that are counted with it."""
    for claim in judged[0]:
        printed = [printed_in(ledger, part["claim"]) for part in claim.printed]
        known = {*map(float, itertools.chain(*printed))}
        assert {*map(float, numbers_of(claim.says))} <= known, claim.id
