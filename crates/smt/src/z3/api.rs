//! The C functions of `libz3` that ioxide calls, by name, from a library loaded at run time.
//!
//! All of them exist since Z3 4.8.12. Types are as in `z3_api.h`, every handle an opaque
//! pointer of its own type so that they cannot be confused.

#![expect(unsafe_code, reason = "C functions are called through pointers from a loaded library")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

macro_rules! handles {
    ($($name:ident)*) => {$(
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub(super) *mut c_void);
    )*};
}
handles! { RawConfig RawContext RawSymbol RawSort RawAst RawSolver RawModel RawParams }

/// The callback for errors; ioxide reads the error code instead.
pub(super) type ErrorHandler = extern "C" fn(RawContext, c_int);

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions, resolved.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            /// The loaded library, which keeps the function pointers valid.
            _library: libloading::Library,
        }

        impl Functions {
            /// Looks up every function; fails if the library lacks one.
            fn resolve(library: libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: every type above is the one `z3_api.h` declares for the symbol,
                // and the library is kept as long as the pointers.
                unsafe {
                    Ok(Self {
                        $($field: *library.get($symbol)?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    get_full_version = b"Z3_get_full_version": fn() -> *const c_char;
    mk_config = b"Z3_mk_config": fn() -> RawConfig;
    del_config = b"Z3_del_config": fn(RawConfig);
    mk_context = b"Z3_mk_context_rc": fn(RawConfig) -> RawContext;
    del_context = b"Z3_del_context": fn(RawContext);
    interrupt = b"Z3_interrupt": fn(RawContext);
    set_error_handler = b"Z3_set_error_handler": fn(RawContext, ErrorHandler);
    get_error_code = b"Z3_get_error_code": fn(RawContext) -> c_int;
    get_error_msg = b"Z3_get_error_msg": fn(RawContext, c_int) -> *const c_char;
    inc_ref = b"Z3_inc_ref": fn(RawContext, RawAst);
    dec_ref = b"Z3_dec_ref": fn(RawContext, RawAst);
    mk_int_symbol = b"Z3_mk_int_symbol": fn(RawContext, c_int) -> RawSymbol;
    mk_string_symbol = b"Z3_mk_string_symbol": fn(RawContext, *const c_char) -> RawSymbol;
    mk_bool_sort = b"Z3_mk_bool_sort": fn(RawContext) -> RawSort;
    mk_int_sort = b"Z3_mk_int_sort": fn(RawContext) -> RawSort;
    mk_real_sort = b"Z3_mk_real_sort": fn(RawContext) -> RawSort;
    mk_string_sort = b"Z3_mk_string_sort": fn(RawContext) -> RawSort;
    mk_re_sort = b"Z3_mk_re_sort": fn(RawContext, RawSort) -> RawSort;
    mk_const = b"Z3_mk_const": fn(RawContext, RawSymbol, RawSort) -> RawAst;
    mk_true = b"Z3_mk_true": fn(RawContext) -> RawAst;
    mk_false = b"Z3_mk_false": fn(RawContext) -> RawAst;
    mk_numeral = b"Z3_mk_numeral": fn(RawContext, *const c_char, RawSort) -> RawAst;
    mk_int64 = b"Z3_mk_int64": fn(RawContext, i64, RawSort) -> RawAst;
    mk_string = b"Z3_mk_string": fn(RawContext, *const c_char) -> RawAst;
    mk_not = b"Z3_mk_not": fn(RawContext, RawAst) -> RawAst;
    mk_and = b"Z3_mk_and": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_or = b"Z3_mk_or": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_eq = b"Z3_mk_eq": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_lt = b"Z3_mk_lt": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_le = b"Z3_mk_le": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_ite = b"Z3_mk_ite": fn(RawContext, RawAst, RawAst, RawAst) -> RawAst;
    mk_add = b"Z3_mk_add": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_mul = b"Z3_mk_mul": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_div = b"Z3_mk_div": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_mod = b"Z3_mk_mod": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_int2real = b"Z3_mk_int2real": fn(RawContext, RawAst) -> RawAst;
    mk_real2int = b"Z3_mk_real2int": fn(RawContext, RawAst) -> RawAst;
    mk_seq_concat = b"Z3_mk_seq_concat": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_seq_length = b"Z3_mk_seq_length": fn(RawContext, RawAst) -> RawAst;
    mk_seq_contains = b"Z3_mk_seq_contains": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_seq_prefix = b"Z3_mk_seq_prefix": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_seq_suffix = b"Z3_mk_seq_suffix": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_str_le = b"Z3_mk_str_le": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_seq_to_re = b"Z3_mk_seq_to_re": fn(RawContext, RawAst) -> RawAst;
    mk_seq_in_re = b"Z3_mk_seq_in_re": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_re_empty = b"Z3_mk_re_empty": fn(RawContext, RawSort) -> RawAst;
    mk_re_range = b"Z3_mk_re_range": fn(RawContext, RawAst, RawAst) -> RawAst;
    mk_re_concat = b"Z3_mk_re_concat": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_re_union = b"Z3_mk_re_union": fn(RawContext, c_uint, *const RawAst) -> RawAst;
    mk_re_star = b"Z3_mk_re_star": fn(RawContext, RawAst) -> RawAst;
    mk_re_loop = b"Z3_mk_re_loop": fn(RawContext, RawAst, c_uint, c_uint) -> RawAst;
    mk_exists = b"Z3_mk_exists_const":
        fn(RawContext, c_uint, c_uint, *const RawAst, c_uint, *const c_void, RawAst) -> RawAst;
    mk_solver = b"Z3_mk_solver": fn(RawContext) -> RawSolver;
    mk_solver_for_logic = b"Z3_mk_solver_for_logic": fn(RawContext, RawSymbol) -> RawSolver;
    solver_inc_ref = b"Z3_solver_inc_ref": fn(RawContext, RawSolver);
    solver_dec_ref = b"Z3_solver_dec_ref": fn(RawContext, RawSolver);
    solver_set_params = b"Z3_solver_set_params": fn(RawContext, RawSolver, RawParams);
    solver_push = b"Z3_solver_push": fn(RawContext, RawSolver);
    solver_pop = b"Z3_solver_pop": fn(RawContext, RawSolver, c_uint);
    solver_assert = b"Z3_solver_assert": fn(RawContext, RawSolver, RawAst);
    solver_check = b"Z3_solver_check": fn(RawContext, RawSolver) -> c_int;
    solver_get_model = b"Z3_solver_get_model": fn(RawContext, RawSolver) -> RawModel;
    solver_reason = b"Z3_solver_get_reason_unknown": fn(RawContext, RawSolver) -> *const c_char;
    mk_params = b"Z3_mk_params": fn(RawContext) -> RawParams;
    params_inc_ref = b"Z3_params_inc_ref": fn(RawContext, RawParams);
    params_dec_ref = b"Z3_params_dec_ref": fn(RawContext, RawParams);
    params_set_uint = b"Z3_params_set_uint": fn(RawContext, RawParams, RawSymbol, c_uint);
    model_inc_ref = b"Z3_model_inc_ref": fn(RawContext, RawModel);
    model_dec_ref = b"Z3_model_dec_ref": fn(RawContext, RawModel);
    model_eval = b"Z3_model_eval": fn(RawContext, RawModel, RawAst, bool, *mut RawAst) -> bool;
    get_bool_value = b"Z3_get_bool_value": fn(RawContext, RawAst) -> c_int;
    get_ast_kind = b"Z3_get_ast_kind": fn(RawContext, RawAst) -> c_int;
    get_numeral_string = b"Z3_get_numeral_string": fn(RawContext, RawAst) -> *const c_char;
    get_numeral_int64 = b"Z3_get_numeral_int64": fn(RawContext, RawAst, *mut i64) -> bool;
    is_string = b"Z3_is_string": fn(RawContext, RawAst) -> bool;
    get_string = b"Z3_get_string": fn(RawContext, RawAst) -> *const c_char;
}

/// A loaded `libz3`; clones share it.
#[derive(Clone)]
pub struct Z3Library {
    pub(super) functions: Arc<Functions>,
}

impl Z3Library {
    /// Loads the library at `path`, or of that name.
    ///
    /// # Errors
    /// If it cannot be loaded or lacks a function.
    pub fn open(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: loading runs the initialisers of a library the user installed as Z3.
        let library = unsafe { libloading::Library::new(path) }?;
        Ok(Self { functions: Arc::new(Functions::resolve(library)?) })
    }

    /// The version it reports.
    #[must_use]
    pub fn version(&self) -> String {
        // SAFETY: the function takes nothing and returns a static text.
        unsafe { copy_text((self.functions.get_full_version)()) }
    }
}

impl fmt::Debug for Z3Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Library").field(&self.version()).finish()
    }
}

/// Copies a text of Z3, which may reuse its buffer on the next call.
///
/// # Safety
/// `chars` is null or a text that ends with a zero byte.
pub(super) unsafe fn copy_text(chars: *const c_char) -> String {
    if chars.is_null() {
        return String::new();
    }
    // SAFETY: not null, and ends with a zero byte as the caller promises.
    unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned()
}
