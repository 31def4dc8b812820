//! Expressions that new users missed: order of strings, `is`, comprehensions over ranges, options of ranges, recursion
//! over numbers, names in backquotes. Each is read, laid out again, and computed.

use crate::common::{load_text, render};
use ioxide_lang::builtin::{BuiltIn, LIST_FUNCTIONS, STRING_FUNCTIONS};
use ioxide_lang::{LoadOptions, format, load};
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

#[track_caller]
fn model(text: &str) -> Model {
    let (sources, loaded) = load_text("m.iox", text);
    loaded.model.unwrap_or_else(|| panic!("{text}\n{}", render(&sources, &loaded.diagnostics)))
}

/// The value of `expr`, a constant of type `ty` in a model with `items`.
#[track_caller]
fn value(items: &str, ty: &str, expr: &str) -> String {
    let model =
        model(&format!("model M {{ {items}\n input a\n var v: {ty} = {expr}\n state s {{ on a }} }}"));
    let init = model.sts.vars[0].init.expect("a value");
    model.pool.show(init).to_string()
}

/// The code and the text of every error in a model with `items`.
fn errors(items: &str) -> Vec<String> {
    let (_, loaded) = load_text("m.iox", &format!("model M {{ {items}\n input z\n state s {{ on z }} }}"));
    let told = |finding: &Diagnostic| format!("{} {}", finding.code.id(), finding.message);
    loaded.diagnostics.iter().filter(|finding| finding.is_error()).map(told).collect()
}

#[track_caller]
fn check_layout(text: &str) {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let once = format(&sources, file).unwrap_or_else(|wrong| panic!("{}", render(&sources, &wrong)));
    assert_eq!(once, text, "the layout is not kept");
}

/// The guard of the only transition of `text` under values for the fields of its message, in order.
#[track_caller]
fn guard_holds(text: &str, fields: &[Value]) -> bool {
    let Model { pool, sts } = model(text);
    let switch = sts.switches.iter().next().expect("a transition");
    let gate = &sts.gates[switch.gate];
    let vars = sts
        .vars
        .iter()
        .map(|var| (var.var, pool.as_value(var.init.expect("it is there")).expect("it is there").clone()));
    let values: Valuation = gate.fields.iter().copied().zip(fields.iter().cloned()).chain(vars).collect();
    pool.holds(switch.guard, &values).expect("every variable has a value")
}

/// Defect: editors said that the second number of `substring` is where it ends.
#[test]
fn parts_of_strings_and_lists_are_what_editors_say() {
    let about = |functions: &[BuiltIn], name: &str| {
        functions.iter().find(|it| it.name == name).expect("it is there").parameters.join(", ")
    };
    assert_eq!(about(STRING_FUNCTIONS, "substring"), "from: int, count: int");
    for (expr, expected) in [("substring(2, 3)", "cde"), ("substring(4, 9)", "ef"), ("substring(0, 0)", "")] {
        assert_eq!(value("", "string", &format!("\"abcdef\".{expr}")), format!("{expected:?}"), "{expr}");
    }
    assert_eq!(about(LIST_FUNCTIONS, "slice"), "from: int, to: int");
    assert_eq!(value("", "list<int>", "[0, 1, 2, 3, 4].slice(2, 3)"), "[2]");
}

/// Defect: an unknown function in a sum was followed by errors about the other operands, which were right.
#[test]
fn a_sum_with_an_unknown_operand_has_one_error() {
    for (expr, message) in [
        ("t.take(1) + t", "E0207 there is no function `take` of strings"),
        ("t.slice(0, 1) + t + t", "E0207 there is no function `slice` of strings"),
        ("u + t", "E0201 there is no name `u`"),
    ] {
        let items = format!("var t: string = \"\"\n input go\n state q {{ on go {{ t = {expr} }} }}");
        assert_eq!(errors(&items), [message], "{expr}");
    }
}

/// Defect: `recv b` proposed `on b` for an output.
#[test]
fn the_direction_of_a_message_decides_which_verb_is_proposed() {
    for (word, message, verb) in [
        ("send", "a", "on"),
        ("send", "b", "emit"),
        ("output", "a", "on"),
        ("recv", "a", "on"),
        ("recv", "b", "emit"),
        ("receive", "b", "emit"),
        ("receive", "unknown", "on"),
        ("send", "unknown", "emit"),
    ] {
        let text = format!("model M {{ input a\n output b\n state s {{ x: {word} {message} -> s }} }}");
        let (sources, loaded) = load_text("m.iox", &text);
        let shown = render(&sources, &loaded.diagnostics);
        assert!(shown.contains(&format!(": \"{verb}\"")), "{word} {message}:\n{shown}");
    }
}

#[test]
fn strings_are_compared_by_the_code_points_of_their_characters() {
    let mut texts = vec!["", "A", "Z", "a", "ab", "aé", "b", "z", "é", "ﬀ", "\u{10000}", "😀"];
    texts.sort_unstable();
    let less =
        |op: &str| format!("model M {{ input a(x: string, y: string)\n state s {{ on a when x {op} y }} }}");
    for (i, x) in texts.iter().enumerate() {
        for (j, y) in texts.iter().enumerate() {
            let fields = [Value::str(x), Value::str(y)];
            for (op, holds) in [("<", i < j), ("<=", i <= j), (">", i > j), (">=", i >= j)] {
                assert_eq!(guard_holds(&less(op), &fields), holds, "{x:?} {op} {y:?}");
            }
        }
    }
    assert_eq!(value("const K = \"m\"", "bool", "\"a\" <= K < \"z\""), "true");
    assert_eq!(errors("const K = true < false"), ["E0303 values of type bool have no order"]);
    // A report writes the comparison as the model does.
    let shown =
        model("model M { input a(x: string, y: string)\n state s { on a when x < y && x >= \"k\" } }");
    let switch = shown.sts.switches.iter().next().expect("it is there");
    assert_eq!(shown.pool.show(switch.guard).to_string(), "x < y && x >= \"k\"");
}

#[test]
fn is_asks_for_a_case() {
    let shape = "enum Shape { dot, circle(r: int), box(w: int, h: int) }";
    assert_eq!(value(shape, "bool", "circle(r: 2) is circle"), "true");
    assert_eq!(value(shape, "bool", "circle(r: 2) is box || !(dot is dot)"), "false");
    assert_eq!(value("const O: int? = some(3)", "bool", "O is some && !(O is none)"), "true");
    let guard = format!("model M {{ {shape} input a(x: Shape)\n state s {{ on a when !(x is circle) }} }}");
    let loaded = model(&guard);
    let switch = loaded.sts.switches.iter().next().expect("it is there");
    // What a report prints can be written into a model.
    assert_eq!(loaded.pool.show(switch.guard).to_string(), "!(x is circle)");
    assert_eq!(errors(&format!("{shape} const B = dot is circl")), ["E0201 `Shape` has no case `circl`"]);
    let wrong = errors("const B = 3 is some");
    assert_eq!(wrong, ["E0301 `is` asks for the case of an enum or option, this is int"]);
    let wrong = errors(&format!("{shape} const B = dot is circle(r: 2)"));
    assert_eq!(wrong, ["E0101 `is` asks which case a value is; it has no fields"]);
    // `is` is no reserved word, and a word that begins declarations may be a variable.
    model("model M { input is(state: int)\n state s { is: on is when state > 0 } }");
    model(
        "model M { enum E { up, down }\n var state: E = up\n input a\n state s { t: on a when state is up } }",
    );
}

#[test]
fn comprehensions_and_count_go_through_ranges() {
    assert_eq!(value("", "list<int>", "[i * i for i in 1..4]"), "[1, 4, 9, 16]");
    assert_eq!(value("const N = 3", "set<int>", "{i % 2 for i in 0..N}"), "{0, 1}");
    assert_eq!(value("", "list<int>", "[i for i in -2..2 if i != 0]"), "[-2, -1, 1, 2]");
    assert_eq!(value("", "int", "count i in 1..10: i % 3 == 0"), "3");
    assert_eq!(value("", "list<int>", "[i for i in 2..1]"), "[]");
    assert_eq!(value("fn f(n: int) -> int = n + 1", "list<0..9>", "[f(i) for i in 0..2]"), "[1, 2, 3]");
    assert!(errors("var v: list<int> = [i for i in 0..5000]")[0].starts_with("E0314"));
    assert!(errors("var n: int = 0\n var v: list<int> = [i for i in 0..n]")[0].starts_with("E0308"));
    // With items that depend on the message.
    let text = "model M { input a(x: int)\n state s { on a when [x + i for i in 1..2] == [5, 6] } }";
    assert!(guard_holds(text, &[Value::int(4)]) && !guard_holds(text, &[Value::int(3)]));
}

#[test]
fn options_of_ranges_and_of_ints_stand_for_each_other() {
    let some = |model: &Model, at: usize, n: Option<i64>| {
        let var = model.sts.gates.iter().nth(1).expect("it is there").fields[at];
        let ioxide_model::sort::Sort::Data(data) = model.pool.var_info(var).sort else { panic!("an option") };
        let args = n.iter().map(|&n| Value::int(n)).collect();
        (var, Value::Data(ioxide_model::value::DataValue { data, ctor: u32::from(n.is_some()), args }))
    };
    let model = model(
        "model M { input a(x: (0..2)?, y: int?) output b
        var wide: int? = none  var narrow: 0..2? = none
        state s { eq: on a when x == y { wide = x } -> s  put: on a { narrow = y } -> s } }",
    );
    for x in [None, Some(0), Some(2)] {
        for y in [None, Some(0), Some(2), Some(7)] {
            let values: Valuation = [some(&model, 0, x), some(&model, 1, y)].into_iter().collect();
            let mut switches = model.sts.switches.iter();
            let (eq, put) = (switches.next().expect("it is there"), switches.next().expect("it is there"));
            assert_eq!(model.pool.holds(eq.guard, &values), Ok(x == y), "{x:?} {y:?}");
            // A value that does not fit disables the transition.
            assert_eq!(model.pool.holds(put.guard, &values), Ok(y != Some(7)), "{y:?}");
            let stored = model.pool.eval(eq.update[0].1, &values).expect("it is there");
            let n = if let Value::Data(stored) = &stored { stored.args.first().cloned() } else { None };
            assert_eq!(n, x.map(Value::int));
        }
    }
    let lists = "fn f(xs: list<int>) -> int = xs.sum()  const NARROW: list<0..3> = [1, 2]";
    assert_eq!(value(lists, "int", "f(NARROW)"), "3");
    assert_eq!(value(lists, "list<real>", "NARROW + []"), "[1.0, 2.0]");
    assert_eq!(value("const A: (0..2)? = some(1)", "int?", "if true then A else some(9)"), "some(1)");
    assert!(errors("const W: int? = some(7)\n const N: (0..2)? = W")[0].starts_with("E0304"));
    assert_eq!(errors("const A: string? = none\n const B: int? = A").len(), 1);
    check_layout(
        "model M {\n    input a(x: (0..2)?, y: list<(0..N + 1)?>, z: (N + 1)..9)\n\n    const N = 3\n\n    \
         state s {}\n}\n",
    );
}

const GCD: &str = "fn gcd(a: int, b: int) -> int = if b == 0 then a else gcd(b, a % b)";

#[test]
fn functions_may_count_numbers_down() {
    assert_eq!(value(GCD, "int", "gcd(84, 36)"), "12");
    assert_eq!(value(GCD, "int", "gcd(-84, 36)"), "12");
    let factorial = "fn fact(n: int) -> int = if n <= 0 then 1 else n * fact(n - 1)";
    assert_eq!(value(factorial, "int", "fact(20)"), "2432902008176640000");
    let ranged = "fn fact(n: 0..20) -> int = if n == 0 then 1 else n * fact(n - 1)";
    assert_eq!(value(ranged, "int", "fact(5)"), "120");
    let matched = "fn fact(n: 0..20) -> int = match n { 0 => 1, _ => n * fact(n - 1) }";
    assert_eq!(value(matched, "int", "fact(5)"), "120");
    let up = "fn sum(i: int, n: int) -> int = if i > n then 0 else i + sum(i + 1, n)";
    assert_eq!(value(up, "int", "sum(1, 10)"), "55");
    let bounded = "const TOP = 10  fn up(i: int) -> int = if i < TOP then 1 + up(i + 3) else 0";
    assert_eq!(value(bounded, "int", "up(0)"), "4");
    let digits = "fn digits(n: int) -> list<int> = if n < 10 then [n] else digits(n / 10) + [n % 10]";
    assert_eq!(value(digits, "list<int>", "digits(4711)"), "[4, 7, 1, 1]");
    let power = "fn pow(x: int, n: int) -> int =
        if n <= 0 then 1 else if n % 2 == 0 then pow(x * x, n / 2) else x * pow(x, n - 1)";
    assert_eq!(value(power, "int", "pow(3, 13)"), "1594323");
    let prime =
        "fn no_divisor(n: int, d: int) -> bool = d * d > n || d < n && n % d != 0 && no_divisor(n, d + 1)";
    assert_eq!(value(prime, "bool", "no_divisor(97, 2) && !no_divisor(91, 2)"), "true");
}

#[test]
fn a_function_over_numbers_that_may_not_end_is_refused() {
    for wrong in [
        "fn f(n: int) -> int = f(n - 1)",
        // Negative numbers pass zero never.
        "fn f(n: int) -> int = if n == 0 then 1 else f(n - 1)",
        "fn f(n: int) -> int = if n != 0 then f(n / 2) else 0",
        "fn f(n: int) -> int = if n > 0 then f(n + 1) else 0",
        // Steps over the bound and back.
        "fn f(n: int) -> int = if n > 5 then f(n - 1) else if n > 0 then f(n + 1) else 0",
        // The bound moves away as fast.
        "fn f(i: int, n: int) -> int = if i >= n then 0 else f(i + 1, n + 1)",
        "fn f(a: int, b: int) -> int = if b == 0 then a else f(a, b % 3)",
        "fn f(a: int, b: int) -> int = if a > 0 then f(a - 1, b) else if b > 0 then f(9, b - 1) else 0",
        // Another `n`.
        "fn f(n: int) -> int = if n > 0 then (if exists n in 0..3: f(n - 1) > 0 then 1 else 0) else 0",
    ] {
        let told = errors(wrong);
        assert!(told.len() == 1 && told[0].starts_with("E0316"), "{wrong}: {told:?}");
    }
    let (sources, loaded) = load_text(
        "m.iox",
        &format!(
            "model M {{ input a {} state s {{ on a }} }}",
            "fn f(n: int) -> int = if n == 0 then 1 else f(n - 1)"
        ),
    );
    assert!(render(&sources, &loaded.diagnostics).contains("n <= 0"), "the help shows how to stop");
}

#[test]
fn a_call_on_a_few_numbers_is_written_out() {
    let text = format!(
        "model M {{ {GCD} input a(x: 0..12, y: 0..12, z: int)\n state s {{ on a when gcd(x, y) == z }} }}"
    );
    let reference = |mut a: i64, mut b: i64| {
        while b != 0 {
            (a, b) = (b, a.rem_euclid(b));
        }
        a
    };
    let loaded = model(&text);
    let switch = loaded.sts.switches.iter().next().expect("it is there");
    assert!(!loaded.pool.show(switch.guard).to_string().contains("gcd"), "no call is left for the solver");
    for x in 0..=12 {
        for y in 0..=12 {
            let z = reference(x, y);
            assert!(guard_holds(&text, &[x, y, z].map(Value::int)));
            assert!(!guard_holds(&text, &[x, y, z + 1].map(Value::int)));
        }
    }
}

#[test]
fn the_function_that_has_the_obligation_is_named() {
    let told = errors(
        "fn pick(xs: list<int>, i: int) -> int = xs[i]
        fn total(xs: list<int>) -> int = match xs { [] => 0, [x, ..rest] => pick(xs, 0) + total(rest) }",
    );
    assert_eq!(told, ["E0316 `total` calls itself, so it cannot call `pick`, which has obligations"]);
    let told =
        errors("fn total(xs: list<int>) -> int = match xs { [] => 0, [x, ..rest] => xs[0] + total(rest) }");
    assert_eq!(told, ["E0316 `total` calls itself, so it cannot require that an item exists"]);
}

#[test]
fn names_in_backquotes_may_be_anything() {
    let text = "model M {
    input `INIT-CHLO`(`key share`: int)
    output `ServerHello & Certificate`
    output `none`
    output `KEX31+NEWKEYS`
    output `a.1`

    enum `kind-of` { `a-b`, `if`(`no-1`: int), c }

    var `last one`: `kind-of` = `a-b`

    state `not yet` {
        `first-step`: on `INIT-CHLO`
            when `key share` > 0 && `last one` is `a-b`
            { `last one` = `if`(`no-1`: `key share`) }
            -> done
    }

    state done {
        emit `ServerHello & Certificate` -> `not yet`
        emit `none` when match `last one` { `a-b` => true, `if`(n) => n > 3, c => false }
        `x+2`: emit `KEX31+NEWKEYS`
        emit `a.1`
    }

    purpose o: `first-step`, `x+2`
    purpose p: `first-step`
    purpose q: reach `not yet` when `last one` == c

    test \"t\" {
        send `INIT-CHLO`(`key share`: 4)
        expect `none`
    }
}
";
    check_layout(text);
    let model = model(text);
    let names: Vec<&str> = model.sts.gates.iter().skip(1).map(|gate| &*gate.name).collect();
    let all = ["INIT-CHLO", "ServerHello & Certificate", "none", "KEX31+NEWKEYS", "a.1"];
    assert_eq!(names, all, "the plain names are used");
    let switch = model.sts.switches.iter().next().expect("it is there");
    assert_eq!(model.pool.show(switch.guard).to_string(), "`key share` > 0 && `last one` == `a-b`");
    // Backquotes that are not needed go.
    let mut sources = Sources::new();
    let file = sources.add("m.iox", "model M { input `a`\n state `s` { on `a` } }");
    let plain = format(&sources, file).expect("it is there");
    assert!(!plain.contains('`'), "{plain}");
    for (text, code) in [("input `a", "E0102"), ("input ``", "E0102"), ("input if", "E0106")] {
        let (_, loaded) = load_text("m.iox", &format!("model M {{ {text}\n state s {{}} }}"));
        assert!(loaded.has_errors(), "{text} {code}");
    }
}

#[test]
fn a_part_has_constants_that_are_computed_from_its_index() {
    let text = "model Node { const FIRST = false  const NAME = \"\"  enum Role { leader, follower }
            const ROLE: Role = follower  input go output say(name: string, first: bool, role: Role)
            state s { on go -> t } state t { emit say(name: NAME, first: FIRST, role: ROLE) -> s } }
        system S { const N = 2
            node[i in 1..N]: Node(FIRST: i == 1, NAME: if i < N then \"a\" else \"b\",
                ROLE: if i == N then leader else follower) }";
    let model = model(text);
    let shown: Vec<String> =
        model.sts.switches.iter().map(|it| model.pool.show(it.guard).to_string()).collect();
    let all = shown.join("\n");
    for (name, is_first, role) in [("a", true, "follower"), ("b", false, "leader")] {
        let fits = |guard: &String| {
            guard.contains(&format!("name == \"{name}\""))
                && guard.contains(role)
                && guard.contains("!first") != is_first
        };
        assert!(shown.iter().any(fits), "{name} {is_first} {role}\n{all}");
    }
    for (given, wrong) in [
        ("FIRST: i == 1", "FIRST: 3"),
        ("FIRST: i == 1", "FIRST: j == 1"),
        ("FIRST: i == 1", "WHAT: i == 1"),
        ("then leader", "then boss"),
    ] {
        let (_, loaded) = load_text("m.iox", &text.replace(given, wrong));
        assert!(loaded.has_errors(), "{wrong}");
    }
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let options = LoadOptions::with_overrides(vec![("node.ROLE".into(), "leader".into())]);
    assert!(load(&sources, file, &options).model.is_some(), "`--set` replaces what the system says");
}

#[test]
fn the_instances_of_an_array_can_send_to_each_other() {
    let text = "model Client { const ID = 0  input start(to: 1..3) output give(to: int) input hear
            var next: int = 0
            state idle { on start { next = to } -> giving  on hear }
            state giving { emit give(to: next) -> idle  on hear } }
        system S { client[i in 1..3]: Client(ID: i)  client[i].give -> client[to].hear }";
    let ring = model(text);
    let give = ring.sts.gate_named("client.give").expect("seen");
    assert!(ring.sts.gate_named("client.hear").is_none(), "it is received from a peer only");
    // Each of three gives to the two others.
    let pairs = ring.sts.switches.iter().filter(|switch| switch.gate == give);
    assert!(pairs.count() >= 6);
    let broadcast = model(&text.replace("client[to].hear", "client.hear"));
    assert!(broadcast.sts.gate_named("client.give").is_some());
    let (sources, loaded) = load_text("m.iox", &text.replace("client[to].hear", "client[i].hear"));
    assert!(render(&sources, &loaded.diagnostics).contains("would send to itself"));
}
