"""What is claimed of this work: the totals of verdicts, in one sentence."""

import re

from claim_records import record
from layerwise.engine.records import Totals, tally_sentence, totals


def test_totals_count_each_kind_of_document_apart():
    verdicts = ["agrees", "reproduced", "differs", "follows", "contradicted", "same number"]
    records = [record(f"p1.{n}", verdict=word) for n, word in enumerate(verdicts)]
    records += [record("p1.n", verdict="differs", document="notebook")]
    papers = Totals(n=6, compared=3, agree=2, differ=1, contradicted=1)
    assert totals(records) == {"paper": papers, "notebook": Totals(1, 1, 0, 1, 0)}
    numbers = re.findall(r"\d+", tally_sentence(records))
    assert [*map(int, numbers)] == [6, 3, 2, 1, 1, 1, 0, 1, 0]
