//! Adaptive state counting on the machine pairs of the data folder.
//!
//! Run by hand: `IOXIDE_DATA=… cargo bench -p ioxide-fsm --bench reduction`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::align_names;
use ioxide_fsm::read;
use ioxide_fsm::reduce::{
    CountingPlan, CountingVariant, PlayedMachine, ReductionReport, on_demand_counting, state_counting,
};

/// A pair of machines, its bounds, and what the reference reports for them:
/// verdict passes, sequences, symbols, seconds.
type Row = (&'static str, &'static str, usize, (bool, usize, usize, f64));

const ROWS: [Row; 37] = [
    ("MA", "MA_I", 3, (true, 28, 82, 0.017)),
    ("MA", "MA_I", 4, (true, 62, 237, 0.019)),
    ("MA", "MA_I", 5, (true, 160, 778, 0.072)),
    ("MF", "MF_I", 2, (false, 9, 17, 0.001)),
    ("MF", "MF_I", 3, (false, 9, 17, 0.009)),
    ("n3_x2_y2_p30_s1_spec", "n3_x2_y2_p30_s1_red", 3, (true, 276, 1628, 0.063)),
    ("n3_x2_y2_p30_s1_spec", "n3_x2_y2_p30_s1_red", 4, (true, 1887, 15291, 0.993)),
    ("n3_x2_y2_p30_s1_spec", "n3_x2_y2_p30_s1_mut", 3, (false, 1, 2, 0.000)),
    ("n3_x2_y2_p30_s1_spec", "n3_x2_y2_p30_s1_mut", 4, (false, 1, 2, 0.000)),
    ("n4_x2_y2_p30_s1_spec", "n4_x2_y2_p30_s1_red", 4, (true, 28, 95, 0.044)),
    ("n4_x2_y2_p30_s1_spec", "n4_x2_y2_p30_s1_red", 5, (true, 62, 284, 0.103)),
    ("n4_x2_y2_p30_s1_spec", "n4_x2_y2_p30_s1_mut", 4, (false, 5, 22, 0.008)),
    ("n4_x2_y2_p30_s1_spec", "n4_x2_y2_p30_s1_mut", 5, (false, 5, 22, 0.012)),
    ("n5_x2_y3_p30_s1_spec", "n5_x2_y3_p30_s1_red", 5, (true, 104, 448, 0.184)),
    ("n5_x2_y3_p30_s1_spec", "n5_x2_y3_p30_s1_red", 6, (true, 269, 1436, 0.361)),
    ("n5_x2_y3_p30_s1_spec", "n5_x2_y3_p30_s1_mut", 5, (false, 26, 84, 0.051)),
    ("n5_x2_y3_p30_s1_spec", "n5_x2_y3_p30_s1_mut", 6, (false, 26, 84, 0.040)),
    ("n6_x3_y3_p20_s1_spec", "n6_x3_y3_p20_s1_red", 6, (true, 435, 2303, 0.692)),
    ("n6_x3_y3_p20_s1_spec", "n6_x3_y3_p20_s1_red", 7, (true, 2856, 19345, 4.359)),
    ("n6_x3_y3_p20_s1_spec", "n6_x3_y3_p20_s1_mut", 6, (false, 128, 437, 0.129)),
    ("n6_x3_y3_p20_s1_spec", "n6_x3_y3_p20_s1_mut", 7, (false, 146, 515, 0.177)),
    ("n10_x2_y4_p50_s1_spec", "n10_x2_y4_p50_s1_red", 10, (true, 1033, 8964, 4.330)),
    ("n10_x2_y4_p50_s1_spec", "n10_x2_y4_p50_s1_red", 11, (true, 3894, 41106, 26.455)),
    ("n10_x2_y4_p50_s1_spec", "n10_x2_y4_p50_s1_mut", 10, (false, 49, 179, 0.292)),
    ("n10_x2_y4_p50_s1_spec", "n10_x2_y4_p50_s1_mut", 11, (false, 49, 179, 0.352)),
    ("n10_x3_y3_p15_s1_spec", "n10_x3_y3_p15_s1_red", 10, (true, 1356, 8412, 3.043)),
    ("n10_x3_y3_p15_s1_spec", "n10_x3_y3_p15_s1_red", 11, (true, 7231, 56385, 25.782)),
    ("n10_x3_y3_p15_s1_spec", "n10_x3_y3_p15_s1_mut", 10, (false, 27, 82, 0.038)),
    ("n10_x3_y3_p15_s1_spec", "n10_x3_y3_p15_s1_mut", 11, (false, 27, 82, 0.037)),
    ("n15_x3_y4_p15_s1_spec", "n15_x3_y4_p15_s1_red", 15, (true, 939, 5378, 2.945)),
    ("n15_x3_y4_p15_s1_spec", "n15_x3_y4_p15_s1_red", 16, (true, 3438, 23217, 13.094)),
    ("n15_x3_y4_p15_s1_spec", "n15_x3_y4_p15_s1_mut", 15, (false, 75, 282, 0.089)),
    ("n15_x3_y4_p15_s1_spec", "n15_x3_y4_p15_s1_mut", 16, (false, 75, 282, 0.110)),
    ("n20_x3_y4_p10_s1_spec", "n20_x3_y4_p10_s1_red", 20, (true, 891, 5343, 4.580)),
    ("n20_x3_y4_p10_s1_spec", "n20_x3_y4_p10_s1_red", 21, (true, 2925, 20436, 18.740)),
    ("n20_x3_y4_p10_s1_spec", "n20_x3_y4_p10_s1_mut", 20, (false, 47, 184, 0.252)),
    ("n20_x3_y4_p10_s1_spec", "n20_x3_y4_p10_s1_mut", 21, (false, 47, 184, 0.132)),
];

fn main() {
    let Some(data) = std::env::var_os("IOXIDE_DATA").map(PathBuf::from) else {
        println!("set IOXIDE_DATA to the folder of machines");
        return;
    };
    println!("pair, bound: reference sequences / symbols / seconds; then refined, per response, on demand");
    for (model, system, bound, reference) in ROWS {
        let (Some(first), Some(second)) = (load(&data, model), load(&data, system)) else { continue };
        let second = align_names(first.names(), second.as_nfsm()).expect("the same inputs");
        let second = Observable::check(second).expect("observable");
        let plan = CountingPlan::new(&first, bound).expect("a complete model within the bound");
        let (verdict, sequences, symbols, seconds) = reference;
        println!("{system} {bound}: {verdict} {sequences} / {symbols} / {seconds:.3}");
        let count = |variant| {
            state_counting(&first, &mut PlayedMachine(&second), &plan, variant).expect("no connection")
        };
        show("refined", verdict, || count(CountingVariant::Refined));
        show("per response", verdict, || count(CountingVariant::PerResponse));
        show("on demand", verdict, || {
            on_demand_counting(&first, &mut PlayedMachine(&second), &plan).expect("no connection")
        });
    }
}

fn show(name: &str, expected: bool, run: impl Fn() -> ReductionReport) {
    let start = Instant::now();
    let report = run();
    let seconds = start.elapsed().as_secs_f64();
    let wrong = if report.failures.is_empty() == expected { "" } else { "  WRONG" };
    println!("  {name:13} {} / {} / {seconds:.5}{wrong}", report.sequences, report.symbols);
}

fn load(data: &Path, name: &str) -> Option<Observable> {
    let text = std::fs::read_to_string(data.join("fsm").join(format!("{name}.fsm"))).ok()?;
    let listing = read::read_numbers(&text).expect("a table of numbers");
    Some(Observable::check(Nfsm::from_listing(&listing)).expect("observable"))
}
