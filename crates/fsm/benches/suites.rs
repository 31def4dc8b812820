//! Sizes and times of all suite methods on the public machines.
//!
//! Run by hand: `IOXIDE_DATA=… cargo bench -p ioxide-fsm --bench suites -- [FILTER] [EXTRA] [METHODS]`,
//! for example `-- BitVise 1 h,s`. Seconds are processor time where the system
//! tells it, for the machine may be shared: the mean of several runs where one
//! is too short to measure, and the least of three to nine such rounds, as many as fit in half a
//! second. The ratios are the reference's figure divided by ours: above 1 we are smaller or faster.

use std::path::PathBuf;
use std::time::Instant;

use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::read;
use ioxide_fsm::suite::{SuiteMethod, SuiteSize};

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

const REFERENCE: &str = include_str!("reference.txt");

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let Some(data) = std::env::var_os("IOXIDE_DATA").map(PathBuf::from) else {
        println!("set IOXIDE_DATA to the folder of machines");
        return;
    };
    let max_extra: usize = args.get(1).and_then(|arg| arg.parse().ok()).unwrap_or(1);
    let methods: Vec<SuiteMethod> = match args.get(2) {
        Some(list) => list.split(',').filter_map(|name| name.parse().ok()).collect(),
        None => SuiteMethod::ALL.to_vec(),
    };
    println!("| machine | extra | method | tests | symbols | seconds | tests × | symbols × | speed × |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for name in MACHINES {
        if args.first().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(data.join("mealy").join(format!("{name}.dot"))) else {
            continue;
        };
        let machine = Mealy::from_listing(&read::read_dot(&text).expect("a machine")).expect("deterministic");
        let spec = SuiteModel::from_reduced(&machine).expect("complete");
        for extra in 0..=max_extra {
            for &method in &methods {
                measure(name, &spec, extra, method);
            }
        }
    }
}

fn measure(name: &str, spec: &SuiteModel, extra: usize, method: SuiteMethod) {
    let (mut size, mut seconds) = mean(spec, extra, method);
    let start = Instant::now();
    for round in 1..9 {
        if round >= 3 && start.elapsed().as_secs_f64() > 0.5 {
            break;
        }
        let again = mean(spec, extra, method);
        (size, seconds) = (again.0, seconds.min(again.1));
    }
    let ratios = match reference(name, extra, method) {
        Some((peer, time)) => format!(
            "{:.2} | {:.2} | {:.1}",
            peer.tests as f64 / size.tests as f64,
            peer.symbols as f64 / size.symbols as f64,
            time / seconds
        ),
        None => "– | – | –".to_owned(),
    };
    let (method, SuiteSize { tests, symbols }) = (method.name(), size);
    println!("| {name} | {extra} | {method} | {tests} | {symbols} | {seconds:.5} | {ratios} |");
}

/// The size of a suite, and how long it takes in the mean of some runs.
fn mean(spec: &SuiteModel, extra: usize, method: SuiteMethod) -> (SuiteSize, f64) {
    let (before, start) = (processor_seconds(), Instant::now());
    let (mut runs, mut total) = (0, 0.0);
    let mut size = SuiteSize::default();
    while runs < 200 && total < 0.04 {
        size = method.suite(spec, extra).measure();
        runs += 1;
        total = match (before, processor_seconds()) {
            (Some(before), Some(after)) => after - before,
            _ => start.elapsed().as_secs_f64(),
        };
    }
    (size, total / f64::from(runs))
}

fn reference(name: &str, extra: usize, method: SuiteMethod) -> Option<(SuiteSize, f64)> {
    let key = format!("{name} {extra} {} ", method.name());
    let row = REFERENCE.lines().find_map(|line| line.strip_prefix(&key))?;
    let mut fields = row.split(' ');
    let tests = fields.next()?.parse().ok()?;
    let symbols = fields.next()?.parse().ok()?;
    Some((SuiteSize { tests, symbols }, fields.next()?.parse().ok()?))
}

/// Time this process has spent on a processor.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}
