#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ioxide_fuzz::targets::openapi(bytes));
