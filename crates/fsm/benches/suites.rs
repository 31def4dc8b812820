//! Sizes and times of all suite methods on the public machines.
//!
//! Run by hand: `IOXIDE_DATA=… cargo bench -p ioxide-fsm [-- FILTER]`.

use std::path::PathBuf;
use std::time::Instant;

use ioxide_fsm::mealy::{Mealy, Spec};
use ioxide_fsm::read;
use ioxide_fsm::suite::Method;

const MACHINES: [&str; 8] = [
    "bankcard/Volksbank_learnresult_MAESTRO_fix",
    "tls/OpenSSL_1.0.1g_server_regular",
    "tcp/TCP_Linux_Client",
    "ssh/OpenSSH",
    "ssh/BitVise",
    "tcp/TCP_FreeBSD_Server",
    "industrial/m41",
    "industrial/m106",
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let data =
        std::env::var("IOXIDE_DATA").map_or_else(|_| PathBuf::from("../../../shared/data"), PathBuf::from);
    let max_extra: usize = args.get(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let methods: Vec<Method> = match args.get(2) {
        Some(list) => list.split(',').filter_map(|name| name.parse().ok()).collect(),
        None => Method::ALL.to_vec(),
    };
    for name in MACHINES {
        if args.first().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(data.join("mealy").join(format!("{name}.dot"))) else {
            continue;
        };
        let machine = Mealy::from_listing(&read::dot(&text).expect("a machine")).expect("deterministic");
        let spec = Spec::reduced(&machine).expect("complete");
        println!("{name}: {} states, {} inputs", spec.n_states(), spec.n_inputs());
        for extra in 0..=max_extra {
            for &method in &methods {
                let start = Instant::now();
                let size = method.suite(&spec, extra).measure();
                let time = start.elapsed();
                println!(
                    "  {extra} {:5} {:9} / {:9} / {:.4}",
                    method.name(),
                    size.tests,
                    size.symbols,
                    time.as_secs_f64()
                );
            }
        }
    }
}
