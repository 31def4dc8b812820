//! Random parts: small models over the messages `a`, `b` (inputs) and `x`, `y` (outputs).

use std::fmt::Write;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;

/// Small numbers from a seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap_or(0)
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }
}

pub const INPUTS: [&str; 2] = ["a", "b"];
pub const OUTPUTS: [&str; 2] = ["x", "y"];

pub fn random_part(dice: &mut Dice, name: &str) -> String {
    let states = 1 + dice.roll(3);
    let mut text = format!(
        "model {name} {{\n input a(v: 0..2)\n input b(v: 0..2)\n output x(v: 0..2)\n output y(v: 0..2)\n \
         var n: 0..2 = {}\n",
        dice.roll(3)
    );
    for state in 0..states {
        writeln!(text, " state s{state} {{").expect("text");
        for _ in 0..1 + dice.roll(4) {
            let target = dice.roll(states);
            let guard =
                ["", " when n > 0", " when n == 1", " when v != n", " when v <= 1 && n < 2"][dice.roll(5)];
            let update = ["", " { n = v }", " { n = (n + 1) % 3 }"][dice.roll(3)];
            match dice.roll(7) {
                0..=2 => writeln!(text, "  on {}{guard}{update} -> s{target}", INPUTS[dice.roll(2)]),
                3..=5 => {
                    let output = OUTPUTS[dice.roll(2)];
                    let pin = ["(v: n)", "(v: 1)", "(v: 2 - n)", ""][dice.roll(4)];
                    writeln!(text, "  emit {output}{pin}{guard}{update} -> s{target}")
                }
                _ => {
                    let guard = guard.replace("v != n", "n != 2").replace("v <= 1 && ", "");
                    let update = update.replace("n = v", "n = 0");
                    writeln!(text, "  internal{guard}{update} -> s{target}")
                }
            }
            .expect("text");
        }
        text.push_str(" }\n");
    }
    text + "}\n"
}

pub fn loaded(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}
