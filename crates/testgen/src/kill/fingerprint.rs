//! A fingerprint of all that the decisions about mutants depend on, so that decisions of another analysis are not
//! reused.

use ioxide_model::sts::Model;
use ioxide_model::term::VarId;

use crate::mutate::{Mutant, show_switch};

/// Returns a hash in sixteen hexadecimal digits (FNV-1a) of all that the decisions depend on: the declarations with
/// their ranges and initial values (`--set` is in them), every switch, every change, the settings, the version of the
/// analysis.
#[must_use]
pub fn fingerprint(model: &Model, mutants: &[Mutant], fixed: &[&str]) -> String {
    let switches = model.sts.switches.iter().map(|switch| show_switch(model, switch));
    let changes = mutants.iter().map(|mutant| {
        let edits = mutant.edits.iter().map(|edit| edit.show_after(model));
        format!("{} {}", mutant.id, edits.collect::<Vec<_>>().join(" "))
    });
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let fixed = fixed.iter().map(|&text| text.to_owned());
    for text in declarations(model).into_iter().chain(switches).chain(changes).chain(fixed) {
        for byte in text.bytes().chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Returns the declarations of a model, switches apart, one text each.
fn declarations(model: &Model) -> Vec<String> {
    let Model { pool, sts } = model;
    let var = |var: VarId| format!("{}: {:?}", pool.var_info(var).name, pool.var_info(var).sort);
    let start = format!("start {}", sts.locations[sts.initial].name);
    let locations = sts.locations.iter().map(|location| format!("state {}", location.name));
    let vars = sts.vars.iter().map(|it| {
        let init = it.init.map_or_else(|| "unknown".to_owned(), |init| pool.show(init).to_string());
        format!("var {} = {init}", var(it.var))
    });
    let clocks = sts.clocks.iter().map(|clock| format!("clock {}", var(clock.var)));
    let gates = sts.gates.iter().map(|gate| {
        let fields: Vec<String> = gate.fields.iter().map(|&field| var(field)).collect();
        format!("{:?} {}({})", gate.kind, gate.name, fields.join(", "))
    });
    let types = pool.data_types().map(|data| format!("{data:?}"));
    [start].into_iter().chain(locations).chain(vars).chain(clocks).chain(gates).chain(types).collect()
}
