"""Everything that touches Numba's internals: names that Numba does not promise to keep.

`numba_names` lists them. Three things need them:

- the cache of machine code in a folder of our own, whatever Numba's settings say (`keep_kernel`);
- the C face: functions over C memory, compiled in one piece (`compile_callback`, and the code generators that
  `fasturl.capi.access` and `fasturl.capi.checks` make intrinsics of);
- calls of a user's C functions by address (`c_call`), and one store of eight bytes (`put_eight`).
"""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from .._kernels.compiling import OPTIONS
from .._kernels.emission import put_eight
from .c_signatures import CSignature, is_pointer
from .kernel_files import KernelFiles
from .numba_names import check_names, find

check_names()
_CompileResultCacheImpl = find("numba.core.caching:CompileResultCacheImpl")
_FunctionCache = find("numba.core.caching:FunctionCache")
_UserProvidedCacheLocator = find("numba.core.caching:UserProvidedCacheLocator")
_CFunc = find("numba.core.ccallback:CFunc")
_alloca_once = find("numba.core.cgutils:alloca_once")
_get_item_pointer = find("numba.core.cgutils:get_item_pointer")
_unpack_tuple = find("numba.core.cgutils:unpack_tuple")
_CompilerBase = find("numba.core.compiler:CompilerBase")
_nopython_pipeline = find("numba.core.compiler:DefaultPassBuilder.define_nopython_pipeline")
_register_pass = find("numba.core.compiler_machinery:register_pass")
_Lower = find("numba.core.lowering:Lower")
_dumps = find("numba.core.serialize:dumps")
_normalize_signature = find("numba.core.sigutils:normalize_signature")
_BaseNativeLowering = find("numba.core.typed_passes:BaseNativeLowering")
_NativeLowering = find("numba.core.typed_passes:NativeLowering")
_make_array = find("numba.np.arrayobj:make_array")
_populate_array = find("numba.np.arrayobj:populate_array")


# --- the cache ---


class _Locator(_UserProvidedCacheLocator):  # type: ignore[misc, valid-type]  # numba carries no types
    """A place below a folder that is given, not below the one that Numba's settings name."""

    def __init__(self, py_func: Any, file: str, folder: Path) -> None:
        self._py_file, self._lineno = file, py_func.__code__.co_firstlineno
        self._cache_path = str(folder / self.get_suitable_cache_subpath(file))


class _Impl(_CompileResultCacheImpl):  # type: ignore[misc, valid-type]  # numba carries no types
    """In a folder or nowhere: Numba would go on to one beside the sources, which may hold stale kernels."""

    def __init__(self, py_func: Any, folder: Path, tag: str) -> None:
        file = inspect.getfile(py_func)
        if not Path(file).exists():
            raise RuntimeError(f"no source of {py_func.__qualname__} in {file}")
        self._lineno = py_func.__code__.co_firstlineno
        self._locator = _Locator(py_func, file, folder)
        self._locator.ensure_cache_path()
        name = f"{Path(file).stem}.{py_func.__qualname__}{tag}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


def _names_of(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """What tells types of arguments apart, in words: of a record its class and the names of its fields, on
    whose order machine code depends."""
    return tuple(
        (one.instance_class.__module__, one.instance_class.__qualname__, one.fields, _names_of(one))
        if isinstance(one, types.NamedTuple | types.NamedUniTuple)
        else str(one)
        for one in arguments
    )


_COMPILER = (numba.__version__, llvmlite.__version__, np.__version__)


def _compiler_settings() -> tuple[Any, ...]:
    """Settings of Numba that change machine code and that Numba's own cache does not tell apart."""
    return numba.config.BOUNDSCHECK, numba.config.OPT, numba.config.DEBUGINFO_DEFAULT


class KernelCache(_FunctionCache):  # type: ignore[misc, valid-type]  # numba carries no types
    """Numba's cache in a folder of ours, where what is wrong with the folder costs speed and never the run.

    The folder is asked for when the kernel is first called. It may be unusable from the start. A file may be
    damaged, gone, or unwritable: `KernelFiles` gives back what was written or nothing. What is loaded must
    have the signature that was asked for, since a file is found by the names of types.

    Numba would fill its registries before it loads anything, with SciPy's linear algebra among them, which
    takes longer than to load all kernels of a run. What compiles fills them itself; what is loaded needs them
    only where a user's functions are inside, which may allocate memory or call extensions of Numba.

    A function that has others inside, by closure, has a tag that tells them apart. Numba would tell them
    apart by their pickles, which are others in each process. Its records may be of a user's own classes: they
    are known by name and fields, since a class of the main program comes out of a pickle as another one.
    """

    def __init__(
        self, py_func: Any, find_folder: Callable[[], Path | None], tag: str = "", *, with_users: bool = False
    ) -> None:
        self._py_func, self._find_folder, self._tag, self._is_open = py_func, find_folder, tag, False
        self._with_users = with_users

    def _open(self) -> None:
        if self._is_open:
            return
        self._is_open, self._cache_path = True, None
        self.disable()
        folder = self._find_folder()
        if folder is not None:
            self._impl_class = partial(_Impl, folder=folder, tag=self._tag)
            try:
                super().__init__(self._py_func)
                self._cache_file = KernelFiles(
                    str(self._cache_path), self._impl.filename_base, _dumps, pickle.loads
                )
            except (OSError, RuntimeError):
                self._cache_path = None
                self.disable()

    @property
    def cache_path(self) -> Any:
        self._open()
        return self._cache_path

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Everything that machine code depends on, with a text that is the same in each process."""
        if self._tag:
            own: tuple[Any, ...] = (codegen.magic_tuple(), self._tag)
        else:
            own = super()._index_key(sig, codegen)[1:]
        return _names_of(sig), own, self._impl.locator.get_source_stamp(), _COMPILER, _compiler_settings()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._open()
        if self._with_users:
            target_context.refresh()
        try:
            loaded = self._load_overload(sig, target_context)
        except Exception:  # whole, and still not what this Numba can read
            return None
        if loaded is None or tuple(loaded.signature.args) == tuple(sig):
            return loaded
        if not self._tag or _names_of(loaded.signature.args) != _names_of(sig):
            return None
        return loaded._replace(signature=loaded.signature.replace(args=tuple(sig)))

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:
            self.disable()

    def flush(self) -> None:
        self._open()
        try:
            super().flush()
        except Exception:
            self.disable()


class _CallbackCache(KernelCache):
    """The cache of a C callback, which asks with a whole signature where a kernel asks with its arguments."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig.args, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig.args, data)


def keep_kernel(
    kernel: Any, find_folder: Callable[[], Path | None], tag: str = "", *, with_users: bool = False
) -> None:
    """Let a kernel, with a user's functions inside or without, keep its machine code in the folder that is
    found when it is first called; None is nowhere."""
    if not numba.config.DISABLE_JIT:
        kernel._cache = KernelCache(kernel.py_func, find_folder, tag, with_users=with_users)


def cache_subfolder(source: Path) -> str:
    """The folder that Numba gives to the kernels of a source file, below the cache folder."""
    return str(_UserProvidedCacheLocator.get_suitable_cache_subpath(str(source)))


# --- functions of the C face ---


class _InOnePiece(_Lower):  # type: ignore[misc, valid-type]  # numba carries no types
    """Numba's callbacks call the function that they stand for. For a function of eleven arguments, handing
    these on costs more than checking them, so here it is inlined."""

    def create_cfunc_wrapper(self) -> None:
        """The function that C calls. It reports no exception, since no function of the table raises one."""
        context, compiled = self.context, self.fndesc
        module = context.create_module("entry")
        function = ir.Function(
            module,
            context.call_conv.get_function_type(compiled.restype, compiled.argtypes),
            compiled.llvm_func_name,
        )
        arguments = [context.get_value_type(argument) for argument in compiled.argtypes]
        entry = ir.Function(
            module,
            ir.FunctionType(context.get_value_type(compiled.restype), arguments),
            compiled.llvm_cfunc_wrapper_name,
        )
        builder = ir.IRBuilder(entry.append_basic_block())
        _, result = context.call_conv.call_function(
            builder, function, compiled.restype, compiled.argtypes, entry.args
        )
        builder.ret(result)
        self.library.add_ir_module(module)


@_register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(_BaseNativeLowering):  # type: ignore[misc, valid-type]  # numba carries no types
    _name = "lowering_of_entries"
    lowering_class = _InOnePiece


class _Compiler(_CompilerBase):  # type: ignore[misc, valid-type]  # numba carries no types
    def define_pipelines(self) -> list[Any]:
        passes = _nopython_pipeline(self.state)
        passes.passes = [
            (_Lowering if step is _NativeLowering else step, text) for step, text in passes.passes
        ]
        passes.finalize()
        return [passes]


def compile_callback(function: Any, signature: Any, folder: Path | None) -> Any:
    """A function of a Numba signature compiled for C; `address` is what C calls. It is kept in the folder."""
    callback = _CFunc(
        function, _normalize_signature(signature), {}, {**OPTIONS, "forceinline": True}, _Compiler
    )
    callback._cache = _CallbackCache(function, lambda: folder)
    callback.compile()
    return callback


def callback_signature(pointer: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """Result and arguments of a Numba cfunc, as Numba types; None for any other object."""
    return (pointer._sig.return_type, pointer._sig.args) if isinstance(pointer, _CFunc) else None


# --- code generators: what an intrinsic returns beside its type ---


def item_size_of(pointer: Any) -> Callable[..., Any]:
    """The size in bytes of what a pointer points to."""

    def generate(target: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.IntType(64), target.get_abi_sizeof(target.get_data_type(pointer.dtype)))

    return generate


def check_place(target: Any, builder: Any, place: Any, length: Any) -> None:
    """Raise an IndexError for a place beyond a length, in functions whose indices are checked."""
    if target.enable_boundscheck:
        with builder.if_then(builder.icmp_unsigned(">=", place, length), likely=False):
            target.call_conv.return_user_exc(builder, IndexError, ("index is out of bounds",))


def array_at(array: Any, n_axes: int) -> Callable[..., Any]:
    """An array of a type from an address and a shape, without a reference count: the memory is the
    caller's."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        view = _make_array(array)(target, builder)
        item = target.get_abi_sizeof(target.get_data_type(array.dtype))
        lengths = _unpack_tuple(builder, arguments[1], n_axes)
        strides: list[Any] = []
        stride: Any = target.get_constant(types.intp, item)
        for length in reversed(lengths):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
        _populate_array(
            view,
            data=builder.bitcast(arguments[0], view.data.type),
            shape=lengths,
            strides=strides,
            itemsize=target.get_constant(types.intp, item),
            meminfo=None,
        )
        return view._getvalue()

    return generate


def stack_numbers(count: int) -> Callable[..., Any]:
    """A pointer to so many int64 that live as long as the function runs."""

    def generate(_target: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        numbers = _alloca_once(builder, ir.ArrayType(ir.IntType(64), count))
        return builder.bitcast(numbers, ir.IntType(64).as_pointer())

    return generate


def load_at(offset: int, kind: Any) -> Callable[..., Any]:
    """The value of a type so many bytes behind a pointer."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = builder.bitcast(arguments[0], ir.IntType(8).as_pointer())
        place = builder.gep(byte, [ir.Constant(ir.IntType(64), offset)])
        return builder.load(builder.bitcast(place, target.get_value_type(kind).as_pointer()))

    return generate


def text_of(texts: Iterable[tuple[int, str]], otherwise: str) -> Callable[..., Any]:
    """The constant string that belongs to an int32."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        result = target.insert_const_string(builder.module, otherwise)
        for number, text in texts:
            same = builder.icmp_signed("==", arguments[0], ir.Constant(ir.IntType(32), number))
            result = builder.select(same, target.insert_const_string(builder.module, text), result)
        return result

    return generate


# --- calls of a user's C functions ---


def _llvm_type(name: str) -> Any:
    """The LLVM type of a C type: a signed integer, or a pointer to whatever it be."""
    return ir.IntType(8).as_pointer() if is_pointer(name) else ir.IntType(int(name[3:].removesuffix("_t")))


def c_call(signature: CSignature) -> Any:
    """call(address, arguments): the result of a C function; for a pointer it takes an array or an address."""
    callee = ir.FunctionType(_llvm_type(signature.result), [_llvm_type(name) for name in signature.arguments])
    result = getattr(types, signature.result.removesuffix("_t"))

    @intrinsic
    def call(_context: Any, address: Any, arguments: Any) -> Any:
        def argument(target: Any, builder: Any, value: Any, kind: Any, wanted: Any) -> Any:
            if isinstance(kind, types.Array):
                return builder.bitcast(_make_array(kind)(target, builder, value).data, wanted)
            if isinstance(wanted, ir.PointerType):
                return builder.inttoptr(value, wanted)
            return target.cast(builder, value, kind, types.int64)

        def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            pieces = _unpack_tuple(builder, values[1], len(arguments))
            handed = [
                argument(target, builder, *piece)
                for piece in zip(pieces, signature.args[1], callee.args, strict=True)
            ]
            return builder.call(builder.inttoptr(values[0], callee.as_pointer()), handed)

        return result(types.uint64, arguments), generate

    return call


# --- a store of eight bytes ---


@intrinsic
def _store_eight(_context: Any, bytes_: Any, e: Any, j: Any, out: Any) -> Any:
    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[3]
        array = _make_array(kind)(target, builder, arguments[3])
        place = _get_item_pointer(target, builder, kind, array, arguments[1:3])
        builder.store(arguments[0], builder.bitcast(place, arguments[0].type.as_pointer()), align=1)
        return target.get_dummy_value()

    return types.void(types.uint64, types.intp, types.intp, out), generate


@overload(put_eight, jit_options={"forceinline": True})
# Numba wants the very parameters of the lambda, which has no annotations
def _compiled_put_eight(bytes_, e, j, out):  # type: ignore[no-untyped-def]
    return lambda bytes_, e, j, out: _store_eight(bytes_, e, j, out)
