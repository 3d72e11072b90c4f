"""Gains and norms of any checkpoint, as Paper 3 measures them, with the keys of its files."""

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial

import numpy as np

from layerwise import workers
from layerwise.engine.experiment import Filled
from layerwise.errors import LayerwiseError
from layerwise.measures.residual_gain import GainReading
from layerwise.measures.spectral import Spectrum, spectrum
from layerwise.models.families import n_heads
from layerwise.models.load import Checkpoint
from layerwise.models.needs import processes_for_spectra
from layerwise.models.projections import Weights
from layerwise.models.store import HiddenStates
from layerwise.papers.experiments.gains import gains_over_texts
from layerwise.papers.experiments.matrices import numbers_by_block
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.result_files import own_file
from layerwise.progress import track

Spectra = Mapping[tuple[str, int], Future[Spectrum]]  # by matrix and block, in order


def files(
    checkpoint: Checkpoint, states: HiddenStates, spectra: Spectra, without: Sequence[str]
) -> tuple[dict[str, Filled], dict[str, str]]:
    """Return what could be measured, by file, and why the rest is not there.

    A model can lack one of them, say slices of the weights that are known, and have all else.
    """
    measures: dict[str, tuple[str, Callable[[], Filled]]] = {
        "gains": (own_file("gains"), lambda: file_of_gains(checkpoint, states)),
        "spectral": (own_file("spectral"), lambda: file_of_norms(checkpoint, spectra)),
    }
    needing = () if states.index["n_prompts"] else ("anisotropy", "gains")
    absent = dict.fromkeys(needing, "it needs prompts, and none were given")
    absent |= dict.fromkeys(without, "it was left out by --without")
    name = {"model": checkpoint.name, "model_display": checkpoint.display}
    tables: dict[str, Filled] = {}
    for part, (file, measure) in measures.items():
        try:
            if part not in absent:
                tables[file] = {**name, **measure()}
        except LayerwiseError as error:
            absent[part] = str(error)
    return tables, absent


def file_of_gains(checkpoint: Checkpoint, states: HiddenStates) -> Filled:
    """Return the gains of every block over the prompts, and each prompt's last, by reading."""
    prompts = track(states.streams(), "gains", "prompts", states.index["n_prompts"])
    by_prompt, readings = gains_over_texts(prompts)
    return {
        "n_heads": n_heads(checkpoint.model.config),
        "d_model": checkpoint.hidden_size,
        "residual_gain_all": readings[GainReading.PENULTIMATE],
        "all_layer_gains": by_prompt.mean(axis=0).tolist(),
        "all_layer_gains_std": by_prompt.std(axis=0).tolist(),
        "readings": {name: {"all": values} for name, values in readings.items()},
    }


def begin_spectra(checkpoint: Checkpoint) -> Spectra:
    """Have the spectra of all matrices computed while this process does something else.

    Of the slices that the model computes with; the papers' notebooks cut some at other rows.
    """
    opened = functools.cache(lambda: Weights.from_checkpoint(checkpoint))

    def matrix(name: str, block: int) -> tuple[np.ndarray]:
        return (opened().matrix(block, name, "correct"),)

    places = ((name, block) for name in MATRICES for block in range(checkpoint.n_layers))
    most = processes_for_spectra(checkpoint.hidden_size)
    return {place: workers.submit(spectrum, partial(matrix, *place), most=most) for place in places}


def file_of_norms(checkpoint: Checkpoint, spectra: Spectra) -> Filled:
    """Return what `begin_spectra` began, as the file of norms has it."""
    by_matrix: dict[str, list[Spectrum]] = {}
    for (name, _), future in track(spectra.items(), "spectral norms", "matrices", len(spectra)):
        by_matrix.setdefault(name, []).append(future.result())
    return {"n_layers": checkpoint.n_layers, "slices": "correct", **numbers_by_block(by_matrix)}
