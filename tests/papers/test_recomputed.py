"""Every number that the answers to the central claims show, once more: NumPy and SciPy on the
tables of `published/`, without any rule of the package.

A `printed` one is quoted from a paper; all others are computed here.
"""

import csv
import itertools
import json
import math
import re

import numpy as np
import pytest
from scipy import optimize, special, stats

from layerwise.engine.headlines import headlines, read_headlines

NUMBER = re.compile(r"(?<![\w.\-^(])(?<!L/)\(?([-+]?\d+(?:\.\d+)?)(?![\w(])")
NO_NUMBER = re.compile(r"\bL\d+-\d+")  # the layers of a transition
Z = stats.norm.ppf(0.975)
SHIFT = Z + stats.norm.ppf(0.8)
BOTH = stats.norm.ppf(0.95) + stats.norm.ppf(0.9)  # of two one-sided tests

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
PROFILE = "paper3/Results/anisotropy_results_pythia.json"
PAPER1 = {
    "gemma": "Results/results_gemma_20251231_142425.json",
    "llama": "Results/results_llama_20251231_142705.json",
    "mistral": "Results/results_mistral_20251231_143700.json",
    "apertus": "Results/results_apertus_20251231_150219.json",
}
NEUTRAL = (
    "ground_truth_nonnumeric", "tech_philosophy", "lifestyle", "business", "scientific_facts",
)  # fmt: skip


@pytest.fixture(scope="module")
def tables(root):
    """{file: {key: value}} of every table."""
    found = {}
    for path in sorted((root / "published").glob("*.csv")):
        with path.open(newline="") as lines:
            rows = csv.DictReader(lines)
            if rows.fieldnames == ["file", "key", "value"]:
                for row in rows:
                    cells = found.setdefault(row["file"], {})
                    try:
                        cells[row["key"]] = json.loads(row["value"])
                    except ValueError:
                        cells[row["key"]] = row["value"]
    return found


@pytest.fixture(scope="module")
def shown(root, records, works):
    """By headline, the numbers of its sentences as they are displayed."""
    documents = {analysis: work.documents for analysis, work in works.items()}
    found = headlines([*records.values()], documents, read_headlines(root / "claims"))
    return {one.id: numbers_of(f"{one.reason} {one.power}") for one in found}


def numbers_of(text):
    """As displayed, in order; of a range of whole numbers, 5-10, both."""
    return NUMBER.findall(re.sub(r"(?<=\d)-(?=\d)", " to ", NO_NUMBER.sub("", text)))


# --- reading ---


def series(cells, start):
    """The list that stands below a key."""
    return np.array([
        cells[f"{start}/{n}"] for n in itertools.takewhile(
            lambda n: f"{start}/{n}" in cells, itertools.count()
        )
    ])  # fmt: skip


def rows(cells, start=""):
    """The objects of a list: their keys with what stands at or below them."""
    found = {}
    for key, of in cells.items():
        if match := re.fullmatch(rf"{start}/(\d+)(/.*)", key):
            found.setdefault(int(match[1]), {})[match[2]] = of
    return [found[n] for n in sorted(found)]


def ua(cells, category):
    return cells[f"/{category}/uniformity_a"] - cells[f"/{category}/uniformity_b"]


def curve(cells, group="/results", metric="", low="ci_lower", high="ci_upper"):
    """{layer: (r, low, high)}, ascending."""
    pattern = re.compile(rf"{group}/(\d+){metric}/r")
    layers = sorted(int(m[1]) for m in map(pattern.fullmatch, cells) if m)
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


def third(of, place):
    """Layers of a third of a list, as the notebooks cut it, with their mean of each column."""
    layers, n = list(of), len(of) // 3
    chosen = {"early": layers[:n], "mid": layers[n : 2 * n], "late": layers[2 * n :]}[place]
    return np.mean([of[layer] for layer in chosen], axis=0)


def models(tables):
    """(hunt, sweep): {model: dict of numbers}."""
    found = []
    for file, group in ((HUNT, "/tested_results"), (SWEEP, "/models")):
        side = {}
        for m in rows(tables[file], group):
            gains = series(m, "/residual_gain_all")
            blocks = series(m, "/all_layer_gains")
            lab = m.get("/lab", "EleutherAI")
            swept = len(gains) > 0
            n = len(gains) if swept else 5
            mean = gains.mean() if swept else blocks[-2]
            sd = gains.std() if swept else m["/gain_no_ln_std"]
            half = stats.t.ppf(0.975, n - 1) * sd / math.sqrt(n - 1)
            side[m["/model"].rpartition("/")[2]] = {
                "lab": lab, "gain": mean, "low": mean - half, "high": mean + half,
                "final": blocks[-1], "blocks": blocks, "depth": len(blocks),
                "density": m["/n_heads"] / m["/d_head"], "width": m["/d_model"],
            }  # fmt: skip
        found.append(side)
    return found


# --- numbers ---


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


def power_of_r(low, high, n):
    size = math.tanh(SHIFT * (math.atanh(high) - math.atanh(low)) / 2 / Z)
    return ["80", "5", f"{n}", f"{size:.2g}"]


def power_of_pairs(*intervals, factor=SHIFT):
    """As wide on Fisher's z as the intervals that answer; one size, or the smallest and largest.

    Then how many times as wide as Fisher's they are, where that is more than a twentieth wider.
    """
    wide = [math.atanh(high) - math.atanh(low) for _, low, high in intervals]
    sizes = [f"{math.tanh(factor * one / 2 / Z):.2g}" for one in (min(wide), max(wide))]
    times = [one / 2 / Z * math.sqrt(227) for one in (min(wide), max(wide))]
    wider = [f"{one:.1f}" for one in times] if max(times) >= 1.05 else []
    return ["80", "5", "230", *dict.fromkeys(sizes), *dict.fromkeys(wider)]


def narrowed(r, low, high):
    """The ends at 90%, on Fisher's z."""
    ratio, z = stats.norm.ppf(0.95) / Z, math.atanh(r)
    return [math.tanh(z + (math.atanh(end) - z) * ratio) for end in (low, high)]


def corr(x, y):
    return float(np.corrcoef(x, y)[0, 1])


# --- the headlines of Paper 1 ---


def p1_neutral(tables):
    values = {m: np.array([ua(tables[f], c) for c in NEUTRAL]) for m, f in PAPER1.items()}
    zone = sum(abs(ua(tables[f], "lifestyle")) < 0.015 for f in PAPER1.values())
    by_mean = sum(abs(v.mean()) < 0.015 for v in values.values())
    llama, gemma = t_interval(values["llama"], 0.9), t_interval(values["gemma"], 0.9)

    def d_without(model, category):
        left = np.array([ua(tables[PAPER1[model]], c) for c in NEUTRAL if c != category])
        return left.mean() / left.std()

    shifts = []
    for v in values.values():
        half = (t_interval(v).high - t_interval(v).low) / 2
        shifts.append(half * BOTH / Z)
    return [
        f"{zone}", "4", f"{by_mean}", "4",
        *(f"{end:+.3f}" for end in (llama.low, llama.high, gemma.low, gemma.high)),
        f"{d_without('llama', 'business'):.2f}", f"{d_without('mistral', 'tech_philosophy'):.2f}",
        "80", "5", "5", f"{min(shifts):.2g}", f"{max(shifts):.2g}",
    ]  # fmt: skip


def p1_numeric(tables):
    of = {m: ua(tables[f], "ground_truth_numeric") for m, f in PAPER1.items()}
    others = [value for m, value in of.items() if m != "apertus"]
    return [f"{max(others):+.3f}", f"{min(others):+.3f}", f"{of['apertus']:+.3f}"]


def p1_facts(tables):
    of = {m: ua(tables[f], "scientific_facts") for m, f in PAPER1.items()}
    ratios = sorted(abs(of["apertus"] / value) for m, value in of.items() if m != "apertus")
    all_of = {c: abs(ua(tables[PAPER1["apertus"]], c)) for c in (*NEUTRAL, "ground_truth_numeric")}
    lead = sorted(all_of.values())[-1] - sorted(all_of.values())[-2]
    assert max(all_of, key=all_of.get) == "scientific_facts"
    return [f"{of['apertus']:+.3f}", f"{ratios[0]:.0f}", f"{ratios[-1]:.0f}", f"{lead:.4f}"]


def p1_positive(tables):
    of = {
        model: [ua(tables[PAPER1[model]], name) for name in NEUTRAL]
        for model in ("gemma", "apertus")
    }
    return ["5", *(f"{end:+.3f}" for v in of.values() for end in (np.mean(v), *t_interval(v)))]


def p1_business(tables):
    of = {model: ua(tables[file], "business") for model, file in PAPER1.items()}
    assert min(of, key=of.get) == "apertus"
    return [f"{value:+.3f}" for value in (min(of.values()), max(of.values()), of["apertus"])]


# --- of Paper 2 ---


def p2_early(tables):
    of = curves(tables)
    early = third(of["llama"], "early")
    first = f"{of['llama'][0][0]:+.2f}", f"{of['apertus'][0][0]:+.2f}"
    return ["0", *first, *(f"{one:+.2f}" for one in early), *power_of_pairs(early)]


def p2_late(tables):
    of = curves(tables)
    late = third(of["pythia"], "late")
    r = [f"{of['pythia'][n][0]:+.2f}" for n in (24, 28, 32)]
    t = late[0] * math.sqrt(228 / (1 - late[0] ** 2))
    assert 2 * stats.t.sf(abs(t), 228) >= 0.05
    strongest = min(r for r, *_ in of["apertus"].values())
    assert of["apertus"][28][0] == strongest
    printed = "-0.17"
    others = [f"{one:+.2f}" for name in ("llama", "apertus") for one in third(of[name], "late")]
    return [
        *others, printed, *r, "24", "28", "32", f"{late[0]:+.3f}", "0.05",
        f"{strongest:+.2f}", "28", *power_of_pairs(late),
    ]  # fmt: skip


def inverted(of):
    late = list(of)[2 * (len(of) // 3) :]
    return any(of[n][0] < 0 and of[n][2] < 0 for n in late)


def p2_three(tables):
    of = curves(tables)
    means = [third(one, "late")[0] for one in of.values()]
    some, bound, sign = (
        sum(map(inverted, of.values())),
        sum(m < -0.1 for m in means),
        sum(m < 0 for m in means),
    )
    assert not inverted({n: one for n, one in of["pythia"].items() if n < 32} | {33: (1, 1, 1)})
    assert some == 3  # as many as are claimed, so that no power is told
    return [f"{some}", "4", f"{bound}", "4", f"{sign}", "4"]


def p2_transition(tables):
    of = curves(tables)
    llama, pythia, apertus = of["llama"], of["pythia"], of["apertus"]
    signs = [n for n, m in itertools.pairwise(llama) if llama[n][0] > 0 > llama[m][0]]
    assert signs == [0]
    highest = max(r for n, (r, *_) in apertus.items() if n >= 12)
    return [
        "4", *(f"{one:+.2f}" for one in llama[4]), "8", *(f"{end:+.2f}" for end in llama[8][1:]),
        "28", *(f"{end:+.2f}" for end in pythia[28][1:]),
        "12", *(f"{end:+.2f}" for end in apertus[12][1:]), f"{highest:+.3f}",
        *power_of_pairs(llama[4], llama[8], pythia[28], apertus[12]),
    ]  # fmt: skip


def p2_extremum(tables):
    apertus = curves(tables)["apertus"]
    assert min(apertus, key=lambda n: apertus[n][0]) == 28
    there, last = apertus[28], apertus[32]
    worst = there[1] - last[2], there[2] - last[1]
    return [
        "28", *(f"{one:+.2f}" for one in there), "32", *(f"{one:+.2f}" for one in last),
        f"{there[0] - last[0]:+.2f}", *(f"{end:+.2f}" for end in worst),
    ]  # fmt: skip


def p2_gemma(tables):
    of = curves(tables)
    gemma = of["gemma"]
    late = list(gemma)[2 * (len(gemma) // 3) :]
    lowest = min(late, key=lambda n: gemma[n][0])
    inner = min(late[:-1], key=lambda n: gemma[n][0])
    bound = 0.17
    for near in (third(gemma, "late"), gemma[inner]):
        assert all(abs(end) < bound for end in narrowed(*near))
    assert narrowed(*gemma[lowest])[0] < -bound
    return [
        f"{gemma[18][0]:+.2f}", f"{third(gemma, 'late')[0]:+.2f}",
        *(f"{end:+.2f}" for end in narrowed(*gemma[lowest])),
        f"{third(of['pythia'], 'late')[0]:+.3f}", *power_of_pairs(gemma[lowest], factor=BOTH),
    ]  # fmt: skip


def p2_template(tables):
    with_, without = (
        curve(tables[TEMPLATE], f"/results_{condition}_template", low="ci_lo", high="ci_hi")
        for condition in ("with", "without")
    )
    means = [third(with_, place)[0] for place in ("early", "mid", "late")]
    highest = max(r for r, *_ in with_.values())
    assert highest < 0
    printed = "0.05"
    return [
        f"{highest:+.2f}", f"{max(means):+.2f}", f"{min(means):+.2f}",
        f"{third(without, 'early')[0]:+.2f}", printed,
    ]  # fmt: skip


def p2_category(tables):
    names = (*NEUTRAL, "ground_truth_numeric")
    x = np.array([ua(tables[PYTHIA_UA], name) for name in names])
    y = np.array([tables[PYTHIA_UA][f"/{name}/output_preference"] for name in names])
    test = stats.pearsonr(x, y)
    left = [stats.pearsonr(np.delete(x, n), np.delete(y, n)) for n in range(len(names))]
    weakest = min(left, key=lambda one: abs(one.statistic))
    assert test.pvalue * 9 > 0.05  # lost over nine layers
    title = "-0.87"
    small = tables[SCALING]["/models/Pythia-410M/layer_results/24/correlation"]
    low, high = exact_interval(small, len(names))
    assert small < test.statistic < high
    ranks = [stats.rankdata(side) for side in (x, y)]
    drawn = [abs(corr(ranks[0], order)) for order in itertools.permutations(ranks[1])]
    p_of_ranks = np.mean(np.array(drawn) >= abs(corr(*ranks)) - 1e-12)
    return [
        f"{test.statistic:+.3f}", "6", f"{test.pvalue:.3f}", title, f"{weakest.statistic:+.2f}",
        f"{weakest.pvalue:.2f}", f"{stats.spearmanr(x, y).statistic:+.2f}", f"{p_of_ranks:.2f}",
        f"{small:+.3f}", "6",
        f"{low:+.2f}", f"{high:+.2f}",
    ]  # fmt: skip


def p2_bins(tables):
    of = curve(tables[BINS], "/bootstrap_results")
    lower = min(of[8], of[12])
    return [
        "20", f"{of[8][0]:+.2f}", "8", f"{of[12][0]:+.2f}", "12", *(f"{e:+.2f}" for e in lower[1:]),
    ]  # fmt: skip


def p2_layers(tables):
    of = {n: tables[LAYERS][f"/strategies/layer_{n}/correlation"] for n in (8, 12, 32)}
    ends = {n: exact_interval(of[n], 6) for n in (8, 32)}
    assert of[8] > of[12]
    return [
        "8", *(f"{one:+.2f}" for one in (of[8], *ends[8])),
        *(f"{one:+.2f}" for one in (of[32], *ends[32])), *power_of_r(*ends[8], 6),
    ]  # fmt: skip


def p2_scaling(tables):
    peaks = []
    for size in ("410M", "1.4B", "6.9B", "12B"):
        start = f"/models/Pythia-{size}"
        pattern = re.compile(rf"{re.escape(start)}/layer_results/(\d+)/correlation")
        r = {int(m[1]): tables[SCALING][m[0]] for m in map(pattern.fullmatch, tables[SCALING]) if m}
        peaks.append(100 * max(r, key=r.get) / tables[SCALING][f"{start}/n_layers"])
    return ["4", f"{np.mean(peaks):.0f}", f"{np.std(peaks):.0f}", "4", "5"]


# --- of Paper 3 ---


def p3_depth(tables):
    hunt, sweep = models(tables)
    depth, gain, density = (
        [m[key] for m in sweep.values()] for key in ("depth", "gain", "density")
    )
    test = stats.pearsonr(depth, gain)
    of_hunt = corr([m["depth"] for m in hunt.values()], [m["gain"] for m in hunt.values()])
    both = hunt | sweep
    of_both = corr([m["depth"] for m in both.values()], [m["gain"] for m in both.values()])
    ranks = [stats.rankdata(side) for side in (depth, gain)]
    rank = corr(*ranks)
    orders = np.array(list(itertools.permutations(ranks[1])))
    drawn = np.abs((orders - 4.5) @ (ranks[0] - 4.5))
    p = np.mean(drawn >= abs((ranks[1] - 4.5) @ (ranks[0] - 4.5)) - 1e-9)
    printed = "-0.81", "0.014"
    return [
        f"{test.statistic:+.2f}",
        *(f"{end:+.2f}" for end in exact_interval(test.statistic, len(depth))),
        f"{test.statistic:+.3f}", f"{test.pvalue:.3f}", *printed,
        f"{corr(density, gain):+.3f}", f"{of_hunt:+.2f}",
        *(f"{end:+.2f}" for end in fisher_interval(of_hunt, len(hunt))), f"{of_both:+.2f}",
        *(f"{end:+.2f}" for end in fisher_interval(of_both, len(both))), f"{rank:+.2f}", f"{p:.3f}",
    ]  # fmt: skip


def p3_bound(tables):
    _, sweep = models(tables)
    m = sweep["pythia-1b"]
    products = [np.prod(m["blocks"][1:-1]) for m in sweep.values()]
    expanding = sum(product > 1 for product in products)
    bound = 10 ** (1 / m["depth"])
    return [
        f"{m['gain']:.3f}", f"{bound:.3f}", "1", f"{expanding}", f"{len(sweep)}",
        f"{max(products):.1f}",
    ]  # fmt: skip


def fisher(eleuther, others):
    table = [[sum(side), len(side) - sum(side)] for side in (eleuther, others)]
    return stats.fisher_exact(table).pvalue


def p3_heritage(tables):
    hunt, sweep = models(tables)
    both = hunt | sweep

    def sides(found):
        eleuther = [m["gain"] < 1 for m in found.values() if m["lab"] == "EleutherAI"]
        return eleuther, [m["gain"] < 1 for m in found.values() if m["lab"] != "EleutherAI"]

    eleuther, others = sides(hunt)
    meta = [m["gain"] < 1 for m in hunt.values() if m["lab"] == "Meta"]
    gpt2 = {}
    for row in rows(tables[GPT2]):
        gpt2.setdefault(row["/Model"], []).append(row["/Last_Gain"])
    sizes = [np.mean(gains) < 1 for gains in gpt2.values()]
    with_gpt2 = fisher(sides(both)[0], sides(both)[1] + sizes)
    open_ = [m for m in hunt.values() if m["low"] < 1 < m["high"]]
    every = []
    for turned in itertools.product((False, True), repeat=len(open_)):
        counted = {id(m): side for m, side in zip(open_, turned, strict=True)}
        side = {name: counted.get(id(m), m["gain"] < 1) for name, m in hunt.items()}
        groups = ([side[n] for n, m in hunt.items() if (m["lab"] == "EleutherAI") == is_]
                  for is_ in (True, False))  # fmt: skip
        every.append(fisher(*groups))
    gains = [np.array([m["gain"] for m in hunt.values() if (m["lab"] == "EleutherAI") == is_])
             for is_ in (True, False)]  # fmt: skip
    low, high = shuffled_interval(*gains)
    first, second = np.mean(eleuther), np.mean(others)

    def power(m, n):
        a, b = stats.binom.pmf(range(m + 1), m, first), stats.binom.pmf(range(n + 1), n, second)
        return sum(
            a[i] * b[j] for i in range(m + 1) for j in range(n + 1)
            if stats.fisher_exact([[i, m - i], [j, n - j]]).pvalue < 0.05
        )  # fmt: skip

    needed = next(n for n in range(2, 40) if power(n, n) >= 0.8)
    percent = [f"{100 * share:.0f}" for share in (first, 1 - np.mean(meta), 1 - second)]
    behind = {lab: [m["final"] < 1 for m in hunt.values() if (m["lab"] == "EleutherAI") == lab]
              for lab in (True, False)}  # fmt: skip
    meta_behind = [m["final"] > 1 for m in hunt.values() if m["lab"] == "Meta"]
    printed = "100"
    return [
        *percent, printed, f"{100 * (1 - np.mean(sizes)):.0f}",
        f"{fisher(eleuther, others):.3f}", "0.001", f"{fisher(*sides(both)):.3f}",
        f"{with_gpt2:.3f}", "1", f"{min(every):.3f}", f"{max(every):.2f}", f"{len(open_)}",
        f"{fisher(behind[True], behind[False]):.3f}", f"{100 * np.mean(meta_behind):.0f}",
        f"{np.mean(gains[0]) - np.mean(gains[1]):+.2f}", f"{low:+.2f}", f"{high:+.2f}",
        f"{len(eleuther)}", f"{len(others)}", f"{100 * power(len(eleuther), len(others)):.0f}",
        f"{needed}", "5", "6",
    ]  # fmt: skip


def p3_spectral(tables):
    hunt, sweep = models(tables)
    gained = hunt | sweep
    found = {}
    for m in rows(tables[SPECTRAL], "/results"):
        value, output = (series(m, f"/W_{k}_spectral_norm").mean() for k in "VO")
        found[m["/model"].rpartition("/")[2]] = (m["/lab"], value, value / output)
    names = [name for name in found if name in gained]
    r = corr([found[n][2] for n in names], [gained[n]["gain"] for n in names])
    damps = {n: gained[n]["gain"] < 1 for n in names}
    right = max(
        sum((found[n][2] > limit) == damps[n] for n in names)
        for limit in (0, *(found[n][2] for n in names))
    )
    constant = max(sum(damps.values()), len(names) - sum(damps.values()))
    last, first = (end(names, key=lambda n: found[n][2]) for end in (max, min))
    assert gained[last]["low"] > 1 > gained[first]["high"]
    labs = {
        lab: [v for of, v, _ in found.values() if (of == "EleutherAI") == lab] for lab in (1, 0)
    }
    p = stats.mannwhitneyu(labs[1], labs[0], method="exact").pvalue

    def mean(column, of):
        return np.mean([one[column] for name, one in found.items() if of(name, one[0])])

    meta = mean(2, lambda _, lab: lab == "Meta")
    values = mean(1, lambda _, lab: lab == "EleutherAI") / mean(1, lambda _, lab: lab == "Meta")
    return [
        f"{right}", f"{len(names)}", f"{constant}", "1", f"{r:+.2f}",
        *(f"{end:+.2f}" for end in exact_interval(r, len(names))), f"{values:.1f}", f"{p:.3f}",
        f"{mean(2, lambda n, _: n.startswith('pythia')) / meta:.1f}",
        f"{mean(2, lambda _, lab: lab == 'EleutherAI') / meta:.1f}",
        *power_of_r(*exact_interval(r, len(names)), len(names)), "7", "8",
    ]  # fmt: skip


def p3_crowding(tables):
    hunt, sweep = models(tables)

    def right(found, key="gain"):
        return 100 * np.mean([(m["density"] >= 0.2) == (m[key] < 1) for m in found.values()])

    def guess(found):
        damping = np.mean([m["gain"] < 1 for m in found.values()])
        return 100 * max(damping, 1 - damping)

    def fishers(damping):
        dense = [damping[name] for name, m in sweep.items() if m["density"] >= 0.2]
        sparse = [damping[name] for name, m in sweep.items() if m["density"] < 0.2]
        p = fisher(dense, sparse)
        return p if np.mean(dense) >= np.mean(sparse) else 2 - p

    open_ = [name for name, m in sweep.items() if m["low"] < 1 < m["high"]]
    by_value = {name: m["gain"] < 1 for name, m in sweep.items()}
    every = [
        fishers(by_value | dict(zip(open_, turned, strict=True)))
        for turned in itertools.product((False, True), repeat=len(open_))
    ]
    printed = "100"
    return [
        f"{right(sweep):.0f}", f"{fishers(by_value):.3f}", f"{min(every):.3f}", f"{max(every):.2f}",
        f"{right(hunt):.0f}", printed, f"{right(hunt, 'final'):.0f}", f"{guess(hunt):.0f}",
        f"{right(hunt | sweep):.0f}", f"{guess(hunt | sweep):.0f}",
    ]  # fmt: skip


def p3_trace(tables):
    means = {
        kind: {
            behaviour: np.mean([
                series(m, f"/traces_{kind}").mean() for m in rows(tables[TRACES], "/results")
                if m["/behavior"] == behaviour
            ])
            for behaviour in ("EXPAND", "DAMPEN")
        }
        for kind in ("full", "multihead")
    }  # fmt: skip
    full, heads = (means[kind]["EXPAND"] / means[kind]["DAMPEN"] for kind in ("full", "multihead"))
    traces = {
        m["/model"].rpartition("/")[2]: series(m, "/traces_multihead").mean()
        for m in rows(tables[TRACES], "/results")
    }
    factor = traces["gpt2"] / traces["opt-125m"]
    sides = {
        m["/model"].rpartition("/")[2]: m["/behavior"] for m in rows(tables[TRACES], "/results")
    }
    larger = [
        traces[a] > traces[b] for a, b in itertools.permutations(traces, 2)
        if (sides[a], sides[b]) == ("EXPAND", "DAMPEN")
    ]  # fmt: skip
    _, sweep = models(tables)
    printed = "1.2"
    return [
        "4", f"{full:.1f}", printed, f"{heads:.1f}", f"{sum(larger)}", f"{len(larger)}",
        f"{sweep['pythia-160m']['gain']:.2f}", f"{factor:.0f}", f"{len(traces)}", "8",
    ]  # fmt: skip


def formula(n_layers, n_heads):
    return n_layers * (0.11 + 0.012 * n_layers + 4.9 / n_heads)


def steepest(trace):
    """The layer of the largest step of the gradient; a NaN is the largest of all."""
    return int(np.argmax(np.abs(np.gradient(trace))))


def missed(table):
    """{model: [error of the formula, error of L/2]}, in percent of depth."""
    return {
        m["/model"].rpartition("/")[2]: [
            100 * abs(guess - m["/L_star_empirical"]) / m["/L"]
            for guess in (formula(m["/L"], m["/H"]), m["/L"] / 2)
        ]
        for m in rows(table, "/results")
    }


def p3_lstar(tables):
    miss = missed(tables[CROSS])
    fitted = [*rows(tables[TRACES], "/results"), *rows(tables[EXTENDED], "/extended_results")]
    fitted = [m for m in fitted if "Mistral" not in m["/model"]]
    seen = {m["/model"].rpartition("/")[2] for m in fitted}
    unseen = [of for name, of in miss.items() if name not in seen]
    mean = np.mean(list(miss.values()), axis=0)
    ends = t_interval([a - b for a, b in miss.values()])
    within = []
    for m in fitted:
        trace = series(m, "/traces_mh" if "/traces_mh/0" in m else "/traces_full")
        layer = steepest(trace)
        within.append([
            100 * abs(guess - layer) / m["/n_layers"]
            for guess in (formula(m["/n_layers"], m["/n_heads"]), m["/n_layers"] / 2)
        ])  # fmt: skip
    ours, half = np.mean(within, axis=0)
    shift = (ends.high - ends.low) / 2 * SHIFT / Z
    printed = "4.8"
    return [
        f"{mean[0]:.1f}", f"{mean[1]:.1f}", f"{len(miss) - len(unseen)}",
        f"{np.mean(unseen, axis=0)[0]:.1f}", f"{np.mean(unseen, axis=0)[1]:.1f}",
        f"{ends.low:+.0f}", f"{ends.high:+.0f}",
        f"{ours:.1f}", printed, f"{half:.1f}",
        "80", "5", f"{len(miss)}", f"{shift:.2g}",
    ]  # fmt: skip


def last_gains(tables, file, *keys):
    found = {}
    for row in rows(tables[file]):
        found.setdefault(tuple(row[key] for key in keys), []).append(row["/Last_Gain"])
    return {name: np.array(gains) for name, gains in found.items()}


def p3_gains(tables):
    of = {name: gains for (name,), gains in last_gains(tables, BENCHMARK, "/Model").items()}
    order = sorted(of, key=lambda name: of[name].mean())
    assert order == ["Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B"]
    prompts = {}
    for row in rows(tables[BENCHMARK]):
        prompts.setdefault(row["/Model"], []).append(
            [row[key] for key in ("/Category", "/Complexity")]
        )
    assert all(asked == prompts[order[0]] for asked in prompts.values())  # the same, in this order
    steps = [t_interval(of[b] - of[a]).low for a, b in itertools.pairwise(order)]
    norms = series(tables[FOUR], "/results/llama3.1-8b/norms")
    return [
        f"{of[order[0]].mean():.2f}", f"{of[order[-1]].mean():.2f}",
        *(f"{step:.2f}" for step in steps), f"{norms[-1] / norms[-2]:.2f}",
        f"{of['LLaMA-3.1-8B'].mean():.2f}",
    ]  # fmt: skip


def p3_tuning(tables):
    of = last_gains(tables, TWINS, "/Family", "/Variant")
    families = list(dict.fromkeys(family for family, _ in of))
    means = {f: (of[f, "base"].mean(), of[f, "instruct"].mean()) for f in families}
    assert all(base > 1 and tuned > 1 for base, tuned in means.values())
    change = {f: 100 * abs(1 - tuned / base) for f, (base, tuned) in means.items()}
    assert max(change, key=change.get) == "Gemma-7B"
    turned = sum(int(np.sum((of[f, "base"] > 1) != (of[f, "instruct"] > 1))) for f in families)
    pairs = sum(len(of[f, "base"]) for f in families)
    low = stats.beta.ppf(0.025, len(families), 1)
    return [
        "1", *(f"{mean:.2f}" for mean in means["Gemma-7B"]), f"{max(change.values()):.0f}",
        f"{turned}", f"{pairs}", "1", f"{len(families)}", f"{100 * low:.0f}",
        f"{len(families)}", "6",
    ]  # fmt: skip


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

    def columns(found):
        gain = np.array([m["gain"] for m in found.values()])
        other = np.array([float(m["lab"] != "EleutherAI") for m in found.values()])
        density = np.array([m["density"] for m in found.values()])
        size = np.array([math.log(12 * m["depth"] * m["width"] ** 2) for m in found.values()])
        return gain, other, density, size

    gain, other, density, size = columns(hunt)
    first, second = zou(gain, other, density), zou(gain, density, size)
    pooled = zou(*columns(hunt | sweep)[:3])
    assert pooled[1] < 0
    return [
        f"{len(hunt)}", f"{first[0]:.2f}", *(f"{one:+.2f}" for one in first[1:]),
        f"{pooled[0]:+.2f}", *(f"{one:+.2f}" for one in second), "12",
    ]  # fmt: skip


def p3_anisotropy(tables):
    shares = series(tables[PROFILE], "/intrinsic_dim_ratio")
    peak = int(np.argmax(shares))
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
        chances.append(f"{100 * (beyond + 1) / 4001:.1f}")
    return [
        f"{peak}", *(f"{slope:+.4f}" for slope in slopes), *chances,
        f"{typed - peak}", f"{typed}", "2", f"{negative}", f"{negative - peak}",
    ]  # fmt: skip


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


def test_no_headline_is_left_out(shown):
    assert list(shown) == list(RECOMPUTED)


@pytest.mark.parametrize("headline", RECOMPUTED)
def test_every_number_of_a_headline_is_that_of_numpy(tables, shown, headline):
    assert shown[headline] == RECOMPUTED[headline](tables)
