"""Torch computes as it is told to, whatever a program or a variable turned on before."""

import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from layerwise.errors import LayerwiseError
from layerwise.models import kernels
from layerwise.models.devices import require_accelerator
from layerwise.models.kernels import (
    BLAS,
    FORCED,
    LATE,
    REDUCTIONS,
    WORKSPACE,
    callers_precision,
    one_attention,
    require_exact,
    seeded,
    settings,
)

EXACT = {"float32": "ieee", "tf32": False, "reduced_sums": False}
CUDA = torch.device("cuda")
ON_GPU = {"sdpa": ["math"], WORKSPACE: ":4096:8", "blas": "cublas"}
ON_GPU |= {"split_sums": True, "compiled_kernels": False}


TURNED_ON = (
    "torch.backends.cudnn.allow_tf32 = True",
    "torch.set_float32_matmul_precision('medium')",
    "torch.backends.fp32_precision = 'tf32'",
    "torch.backends.cudnn.conv.fp32_precision = 'tf32'",
)


def test_what_a_program_or_an_image_turned_on_is_off_again() -> None:
    """In a process of its own: the variable is read when torch is imported."""
    code = f"""if True:
        import torch
        from layerwise.models.kernels import require_exact, settings
        print(settings(torch.device("cpu")))
        for turned_on in {TURNED_ON}:
            exec(turned_on)
            torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
            assert settings(torch.device("cpu"))["reduced_sums"]
            require_exact("cpu")
            torch.backends.cuda.matmul.allow_fp16_accumulation = True
            assert settings(torch.device("cpu"))["reduced_sums"]
            require_exact("cpu")
            print(settings(torch.device("cpu")))
            # older names can be read again
            assert torch.get_float32_matmul_precision() == "highest"
            assert not torch.backends.cuda.matmul.allow_tf32
            assert not torch.backends.cudnn.allow_tf32
    """
    environment = os.environ | {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, *after = map(eval, done.stdout.splitlines())
    assert (before["float32"], before["tf32"]) == ("tf32", True)
    assert after == [EXACT | {"sdpa": ["flash", "math"]}] * len(TURNED_ON)


def test_variables_that_cannot_be_undone_are_refused_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is loaded; a CPU knows none of them."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.delenv(WORKSPACE, raising=False)
    for variable, wrong, right, words in (
        (FORCED, "1", "0", "must be unset or 0, found '1': it makes NVIDIA's .*; unset it"),
        (WORKSPACE, ":0:0", ":16:8", "must be :4096:8 or :16:8, .* found ':0:0'; unset it"),
    ):
        monkeypatch.setenv(variable, wrong)
        require_exact("cpu")
        require_accelerator("cpu")
        with pytest.raises(LayerwiseError, match=f"^{variable} {words}"):
            require_accelerator("cuda")
        monkeypatch.setenv(variable, right)
        require_accelerator("cuda")
    monkeypatch.delenv(WORKSPACE)
    require_accelerator("auto")
    assert settings(CUDA) == EXACT | ON_GPU


def test_a_program_has_its_own_switches_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both flags of a reduction, accumulation in float16, and the library that it prefers."""
    matmul: Any = torch.backends.cuda.matmul
    preferred = ["theirs"]
    monkeypatch.setattr(
        torch.backends.cuda,
        "preferred_blas_library",
        lambda wanted=None: preferred.append(wanted or preferred[-1]) or preferred[-1],
    )
    with callers_precision():  # what the test changes
        for reduced, split in ((False, False), (False, True), (True, True)):  # all that there are
            for name in REDUCTIONS:
                setattr(matmul, name, (reduced, split))
            matmul.allow_fp16_accumulation = True
            with callers_precision():
                require_exact("cpu")
                assert not settings(torch.device("cpu"))["reduced_sums"]
                assert preferred[-1] == BLAS
            for name in REDUCTIONS:
                held = getattr(matmul, name), getattr(matmul, f"{name}_split_k")
                assert held == (reduced, split)
            assert matmul.allow_fp16_accumulation
            assert preferred[-1] == "theirs"


@pytest.mark.parametrize("module", ["layerwise", "layerwise.models.kernels", "layerwise.workers"])
def test_torch_compiles_no_kernels_of_its_own(module: str) -> None:
    """It is told before it is imported, and a reader who says otherwise is heard and recorded."""
    code = (
        f"import {module}, torch; from layerwise.models.kernels import settings\n"
        "print(settings(torch.device('cuda'))['compiled_kernels'])"
    )
    variable = "TORCH_DISABLE_NATIVE_JIT"
    plain = {name: value for name, value in os.environ.items() if name != variable}
    for environment, expected in ((plain, "False"), (plain | {variable: "0"}, "True")):
        command: Any = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_a_variable_that_is_set_late_is_recorded_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuBLAS reads it once; on a GPU that is in use already nobody knows what is in force."""
    monkeypatch.setattr(kernels, "_set_late", [])
    monkeypatch.delenv(WORKSPACE, raising=False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    require_exact("cuda")
    assert settings(CUDA)[WORKSPACE] == f":4096:8, {LATE}"


def test_drawing_from_a_seed_leaves_the_generators_of_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And touches no GPU where the draw is not on one: a seed set before CUDA is in use counts."""
    monkeypatch.setattr(torch.cuda, "manual_seed", None)
    monkeypatch.setattr(torch.cuda, "manual_seed_all", None)
    state = torch.random.get_rng_state()
    with seeded(3, torch.device("cpu")):
        first = torch.rand(4)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(first, torch.rand(4, generator=torch.Generator().manual_seed(3)))


def test_a_gpu_has_one_attention_kernel_and_the_caller_his_own_again() -> None:
    """Others are on outside of the block."""
    with one_attention(CUDA):
        assert not torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled()
    with one_attention(torch.device("cpu")):
        assert torch.backends.cuda.flash_sdp_enabled()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_that_kernel_is_as_exact_as_its_output(dtype: torch.dtype) -> None:
    """Scores that overflow in half precision do not in it, and its sums are float32's."""
    draws = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 2, 12, 64, generator=draws).to(dtype) for _ in range(3))
    q, k = q * 60, k * 60
    with one_attention(CUDA):
        found = scaled_dot_product_attention(q, k, v, is_causal=True)
    exact = scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    error = (found.double() - exact).abs().max().item()
    assert error <= 1.01 * torch.finfo(dtype).eps / 2 * v.abs().max().item() + 1e-4
