#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ioxide_fuzz::targets::stream(bytes));
