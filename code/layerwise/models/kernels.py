"""How torch computes: exact products, one attention kernel, and nothing that a variable turns on.

By default a GPU may take float32 products in TF32 (errors of 1e-3), add halves in half precision,
and choose an attention kernel by shape. Here it may not; `settings` is what is recorded of it.
"""

import contextlib
import operator
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from layerwise.errors import LayerwiseError

# cuBLAS reads it when it is first used: with it, its sums are added in the same order every time.
WORKSPACE, WORKSPACES = "CUBLAS_WORKSPACE_CONFIG", (":4096:8", ":16:8")
FORCED = "NVIDIA_TF32_OVERRIDE"  # of NVIDIA's libraries: 1 stands above what a program asks for
LATE = "set after CUDA was in use, where it may have no effect"
_set_late: list[str] = []  # the variable, once this process set it too late
EXACT = "ieee"  # float32 products as they are written, in torch's words
REDUCTIONS = (
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
)
BLAS = "default"  # torch's own choice of a library, whatever a variable prefers
MATH = "math"  # scores and weights of half precision in float32, the same for every shape


def require_exact(device: str) -> None:
    """Have torch compute exactly in this process; refuse what it cannot undo on a GPU.

    TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1, which NVIDIA's images set, is undone; so are TF32 that the
    caller's program chose, by torch's older names or by `fp32_precision`, sums in half precision,
    and another library of products (TORCH_BLAS_PREFER_CUBLASLT=1).

    Raises:
        LayerwiseError: on a GPU, for NVIDIA_TF32_OVERRIDE other than 0, or for a
            CUBLAS_WORKSPACE_CONFIG with which sums may be added in any order.
    """
    for part in _float32_parts().values():
        part.fp32_precision = EXACT
    # torch refuses to read its older names, as other programs do, while they disagree with these
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    matmul: Any = torch.backends.cuda.matmul
    for name in REDUCTIONS:
        setattr(matmul, name, False)
    matmul.allow_fp16_accumulation = False
    torch.backends.cuda.preferred_blas_library(BLAS)
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    if device == "cpu":
        return
    for variable in (FORCED, WORKSPACE):
        if os.environ.get(variable) == "":  # as none, to NVIDIA's libraries too
            del os.environ[variable]
    if (forced := os.environ.get(FORCED, "0")) != "0":
        raise LayerwiseError(
            f"{FORCED} must be unset or 0, found {forced!r:.20}: it makes NVIDIA's libraries "
            "compute float32 in TF32, with errors of 1e-3; unset it"
        )
    if WORKSPACE not in os.environ and torch.cuda.is_initialized():
        _set_late.append(WORKSPACE)
    if (workspace := os.environ.setdefault(WORKSPACE, WORKSPACES[0])) not in WORKSPACES:
        raise LayerwiseError(
            f"{WORKSPACE} must be {' or '.join(WORKSPACES)}, with which a sum is the same every "
            f"time, found {workspace!r:.40}; unset it"
        )


@contextlib.contextmanager
def callers_precision() -> Iterator[None]:
    """After the block torch takes products and sums as before it, whatever `require_exact` set.

    A notebook goes on to train: without TF32 that takes several times as long on a GPU.
    """
    matmul: Any = torch.backends.cuda.matmul
    cudnn: Any = torch.backends.cudnn
    precisions = [(part, part.fp32_precision) for part in _float32_parts().values()]
    reductions = [(name, _reduction(name)) for name in REDUCTIONS]
    accumulation, blas = (
        matmul.allow_fp16_accumulation,
        torch.backends.cuda.preferred_blas_library(),
    )
    attention = torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    with contextlib.ExitStack() as stack:
        for part, precision in precisions:  # last, because the older names change them too
            stack.callback(setattr, part, "fp32_precision", precision)
        # of older names that disagree with the newer there is nothing to read
        with contextlib.suppress(RuntimeError):
            stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        with contextlib.suppress(RuntimeError):
            stack.callback(setattr, cudnn, "allow_tf32", cudnn.allow_tf32)
        for name, reduction in reductions:
            stack.callback(setattr, matmul, name, reduction)
        stack.callback(setattr, matmul, "allow_fp16_accumulation", accumulation)
        stack.callback(torch.backends.cuda.preferred_blas_library, blas)
        stack.callback(torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp, attention)
        yield


def _reduction(name: str) -> tuple[bool, bool]:
    """Return whether sums are reduced in half precision, and whether they may be split."""
    matmul: Any = torch.backends.cuda.matmul
    return getattr(matmul, name), getattr(matmul, f"{name}_split_k", True)


def _compiles_kernels() -> bool:
    """Return whether torch compiles kernels of its own on a GPU, in place of those it brings."""
    native: Any = sys.modules.get("torch._native.common_utils")
    return native is not None and not native.check_native_jit_disabled()


def _float32_parts() -> dict[str, Any]:
    """Return the parts of `torch.backends` with a float32 precision of their own, by name."""
    backends: Any = torch.backends
    names = (
        *("cuda.matmul", "cudnn", "cudnn.conv", "cudnn.rnn"),
        *("mkldnn", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn"),
    )
    return {"all": backends} | {name: operator.attrgetter(name)(backends) for name in names}


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Inside the block torch draws from a seed, on the CPU and one device.

    Afterwards the caller's generators are as they were; those of other GPUs are not touched.
    """
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus), device:
        torch.default_generator.manual_seed(seed)
        for gpu in gpus:
            with torch.cuda.device(gpu):
                torch.cuda.manual_seed(seed)
        yield


@contextlib.contextmanager
def own_arithmetic(*devices: torch.device) -> Iterator[None]:
    """Inside the block the caller's autocast, default device and default dtype are out of force.

    A notebook under Accelerate runs in autocast: a float32 model would compute in bfloat16.
    """
    dtype = torch.get_default_dtype()
    with contextlib.ExitStack() as stack:
        for kind in {"cpu", *(device.type for device in devices)} - {"meta"}:
            stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        stack.callback(torch.set_default_dtype, dtype)
        torch.set_default_dtype(torch.float32)
        yield


@contextlib.contextmanager
def one_attention(device: torch.device) -> Iterator[None]:
    """Inside the block a GPU's fused attention has one kernel, `math`; a CPU's are torch's own."""
    with contextlib.ExitStack() as stack:
        if device.type == "cuda":
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


def settings(device: torch.device) -> dict[str, object]:
    """Return what is in force: float32, sums of halves, and the kernels that `sdpa` may take."""
    matmul: Any = torch.backends.cuda.matmul
    with one_attention(device):
        enabled = {
            "flash": torch.backends.cuda.flash_sdp_enabled(),
            "efficient": torch.backends.cuda.mem_efficient_sdp_enabled(),
            "cudnn": torch.backends.cuda.cudnn_sdp_enabled(),
            MATH: torch.backends.cuda.math_sdp_enabled(),
        }
    kernels = ("flash", MATH) if device.type == "cpu" else tuple(enabled)  # a CPU has two
    on_gpu: dict[str, object] = {}
    if device.type == "cuda":
        on_gpu = {
            WORKSPACE: ", ".join([str(os.environ.get(WORKSPACE)), *[LATE][: len(_set_late)]]),
            "blas": str(torch.backends.cuda.preferred_blas_library()).rpartition(".")[2].lower(),
            "split_sums": any(_reduction(name)[1] for name in REDUCTIONS),
            "compiled_kernels": _compiles_kernels(),
        }
    precisions = {name: part.fp32_precision for name, part in _float32_parts().items()}
    return {
        "float32": precisions["cuda.matmul"],
        "tf32": any(precision == "tf32" for precision in precisions.values()),
        "reduced_sums": (
            any(_reduction(name)[0] for name in REDUCTIONS)
            or matmul.allow_fp16_accumulation
            or torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
        ),
        "sdpa": [name for name in kernels if enabled[name]],
        **on_gpu,
    }
