//! XLIA models: what they become, and what is said about those that cannot be read.

use crate::common::{load_file, public_data, render};
use ioxide_lang::{LoadOptions, LoadedText, load};
use ioxide_model::source::Sources;

const MACHINE: &str = "@xlia< system , 1.0 >:
timed system S {
@composite:
    statemachine M {
    @public:
        port input  In( urational, int );
        port output Out( int );
        port output Done;
    @private:
        var urational x;
        var int y;
        var int sum;
        var clock urational cl;
        const int MAX = 3;
    @region:
        state b {
            transition u --> a { guard ( cl <= 1 && y > 0 ); sum := sum + y; output Out( sum ); sum := sum + 1; }
            transition v --> c { guard ( sum >= MAX ); output Done; }
        }
        state< start > a {
            @init { sum := 0; }
            transition t --> b { input In( x, y ); guard ( 1 <= x <= 10 ); cl := 0; }
        }
        state< terminal > c;
    @com:
        connect< env > { input In; output Out; output Done; }
    }
}
// a comment at the end";

fn loaded(text: &str) -> (Sources, LoadedText) {
    let mut sources = Sources::new();
    let file = sources.add("m.xlia", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    (sources, loaded)
}

#[test]
fn a_machine_becomes_a_model() {
    let (sources, loaded) = loaded(MACHINE);
    let Some(model) = loaded.model else { panic!("{}", render(&sources, &loaded.diagnostics)) };
    let (sts, pool) = (&model.sts, &model.pool);
    assert_eq!(&*sts.locations[sts.initial].name, "a");
    let switches: Vec<String> = sts
        .switches
        .iter()
        .map(|switch| {
            let updates: Vec<String> = switch
                .update
                .iter()
                .map(|(var, term)| format!("{} = {}", pool.var_info(*var).name, pool.show(*term)))
                .collect();
            let gate = &sts.gates[switch.gate].name;
            format!(
                "{}: {gate} [{}] {} {}",
                switch.label,
                pool.show(switch.guard),
                updates.join(", "),
                switch.resets.len()
            )
        })
        .collect();
    // Assignments count from where they stand: the output is the new sum, the guard sees the value received.
    insta::assert_snapshot!(switches.join("\n"), @r"
    t: In [p1 >= 0.0 && p1 >= 1.0 && p1 <= 10.0] x = p1, y = p2 1
    u: Out [sum + y == p1 && cl <= 1.0 && y > 0] sum = sum + y + 1 0
    v: Done [sum >= 3]  0
    ");
    let initial: Vec<bool> = sts.vars.iter().map(|var| var.init.is_some()).collect();
    assert_eq!((initial, sts.clocks.len()), (vec![false, false, true], 1));
}

#[test]
fn mistakes_are_named() {
    let mistakes = [
        ("system , 1.0", "system 1.0"),
        ("transition t --> b", "transition t -> b"),
        ("cl := 0", "cl := 2"),
        ("input In( x, y );", "input In( x, y ); output Done;"),
        ("input In( x, y )", "input In( x, 3 )"),
        ("var int y", "var buffer y"),
        ("output Done; }", "output Donne; }"),
        ("--> c", "--> d"),
        ("@private", "@secret"),
        ("}\n// a", "// a"),
    ];
    let said: Vec<String> = mistakes
        .iter()
        .map(|(good, bad)| {
            let (_, loaded) = loaded(&MACHINE.replacen(good, bad, 1));
            assert!(loaded.model.is_none(), "{bad}");
            let first = loaded.diagnostics.first().expect("a finding");
            format!("{}: {}", first.code.id(), first.message)
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    E0512: expected `,`, found `1.0`
    E0512: expected `-`, found `->`
    E0512: a clock set to something other than 0 is not supported
    E0512: a transition with two messages is not supported
    E0512: an input that is not received in a variable is not supported
    E0512: type `buffer` of XLIA is not supported
    E0203: there is no message `Donne`
    E0204: there is no state `d`
    E0512: expected `@public`, `@private`, `@region` or `@com`, found `var`
    E0512: expected `}`, found the end of the text
    ");
}

#[test]
fn no_prefix_and_no_cut_of_a_machine_is_a_panic() {
    for end in (0..MACHINE.len()).step_by(7) {
        loaded(&MACHINE[..end]);
        loaded(&format!("{}{}", &MACHINE[..end], &MACHINE[(end + 5).min(MACHINE.len())..]));
    }
}

#[test]
fn public_machines_have_the_known_sizes() {
    let Some(folder) = public_data() else { return };
    for (name, n_locations, n_switches) in [
        ("exemple01_basic_timed_system", 2, 2),
        ("example02_dummy", 3, 4),
        ("example03_atm", 3, 4),
        ("example04_beverage_machine", 3, 4),
        ("exemple08_absolute_value", 2, 3),
    ] {
        let (sources, loaded) = load_file(&folder.join(format!("xlia/{name}.xlia")));
        let Some(model) = loaded.model else { panic!("{name}\n{}", render(&sources, &loaded.diagnostics)) };
        assert_eq!(
            (model.sts.locations.len(), model.sts.switches.len()),
            (n_locations, n_switches),
            "{name}"
        );
    }
}

/// Features of public files: fields with names, life lines, points in time, constants without value, `=`, comments in
/// blocks, and a label in two states.
#[test]
fn the_habits_of_public_files_are_read() {
    let text = "@xlia< system , 1.0 >:
/* a comment
   in a block */
timed system S { @composite: lifeline M {
    @public: port input In( int amount ); port output Out( int );
    @private: var int x; var time urational since; const int LIMIT; var clock urational cl;
    @region:
        state< start > a { @init { x = 0; since = 0; } transition t --> b { input In( x ); cl = 0; /* why not */ } }
        state b { transition t --> a { guard ( x <= LIMIT && cl <= 2 ); output Out( x ); } }
} }";
    let (sources, loaded) = loaded(text);
    let Some(model) = loaded.model else { panic!("{}", render(&sources, &loaded.diagnostics)) };
    let labels: Vec<&str> = model.sts.switches.iter().map(|switch| &*switch.label).collect();
    assert_eq!(labels, ["t", "t_2"]);
    let fields = &model.sts.gates[model.sts.gate_named("In").expect("a port")].fields;
    assert_eq!(&*model.pool.var_info(fields[0]).name, "amount");
    let limit = model.sts.vars.iter().find(|var| &*model.pool.var_info(var.var).name == "LIMIT");
    assert!(limit.is_some_and(|var| var.init.is_none()), "a constant without a value is unknown");
}

/// A system behind a machine of kinds, brackets and second names, as generated files are written, and a rational field
/// that is received in a whole variable only.
#[test]
fn other_spellings_are_the_same_machine() {
    let text = "@xlia< system , 1.0 >:
timed system< and > S {
@property: const int EXTRA = 12;
@machine: lifeline statemachine< or > M {
    @property:
        public input port Wash( urational duration ); output port Start( urational total ); private input port Stop;
        var time uinteger kept; var clock< urational > cl; var time< urational > since;
    @region:
        state< initial > idle \"idle_q0\" {
            transition wash --> busy { input Wash( kept ); cl = 0; }
            transition --> idle { input Stop; }
        }
        state busy {
            transition --> idle { guard ( 30 <= kept <= 120 && cl == kept + EXTRA ); output Start( kept + EXTRA ); }
            transition --> idle { input Stop; }
        }
    @com:
        connector< env > { input M->Wash; } connector< env > { output M->Start; }
} }";
    let (sources, loaded) = loaded(text);
    let Some(model) = loaded.model else { panic!("{}", render(&sources, &loaded.diagnostics)) };
    let (sts, pool) = (&model.sts, &model.pool);
    let switches = sts.switches.iter().map(|switch| {
        let gate = &sts.gates[switch.gate];
        let sorts = gate.fields.iter().map(|&field| pool.show_sort(model.field_sort(field)).to_string());
        let sorts: Vec<String> = sorts.collect();
        format!("{}: {}({}) [{}]", switch.label, gate.name, sorts.join(", "), pool.show(switch.guard))
    });
    insta::assert_snapshot!(switches.collect::<Vec<_>>().join("\n"));
    assert_eq!(&*sts.locations[sts.initial].name, "idle");
}

/// A field that is received in a whole variable at one place and in a rational one at another has no sort of both.
#[test]
fn a_field_has_one_sort() {
    let text = "@xlia< system , 1.0 >:
timed system S { @composite: statemachine M {
    @public: port input In( rational );
    @private: var int whole; var rational exact;
    @region:
        state< start > a { transition t --> b { input In( whole ); } }
        state b { transition u --> a { input In( exact ); } }
} }";
    let (_, loaded) = loaded(text);
    let said: Vec<&str> = loaded.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
    insta::assert_snapshot!(said.join("\n"));
}

/// Nothing that the reader leaves out changes what is allowed: what it cannot express is refused.
#[test]
fn conditions_on_start_values_are_refused() {
    let text = MACHINE.replacen("sum := 0;", "sum := 0; guard( x < 42 );", 1);
    let (_, loaded) = loaded(&text);
    assert!(loaded.model.is_none());
    assert_eq!(loaded.diagnostics[0].message, "a condition on unknown start values is not supported");
}
