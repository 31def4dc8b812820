//! Models of a process algebra as TorXakis writes them.

use super::*;

fn num_text(n: &Num) -> String {
    match n {
        Num::Lit(n) => n.to_string(),
        Num::Var(name) => name.clone(),
        Num::Sum(a, b) => format!("({} + {} % 3)", num_text(a), num_text(b)),
        Num::If(c, a, b) => format!("IF {} THEN {} ELSE {} FI", cond_text(c), num_text(a), num_text(b)),
    }
}

fn cond_text(c: &Cond) -> String {
    match c {
        Cond::Lit(b) => if *b == 1 { "True" } else { "False" }.into(),
        Cond::Var(name) => name.clone(),
        Cond::Less(a, b) => format!("({} < {})", num_text(a), num_text(b)),
        Cond::Same(a, b) => format!("({} == {})", num_text(a), num_text(b)),
        Cond::Not(a) => format!("not({})", cond_text(a)),
        Cond::And(a, b) => format!("({} /\\ {})", cond_text(a), cond_text(b)),
    }
}

fn val_text(v: &Val) -> String {
    match v {
        Val::Num(n) => num_text(n),
        Val::Cond(c) => cond_text(c),
    }
}

fn offs_text(offs: &[Off]) -> String {
    offs.iter().fold(String::new(), |mut text, off| {
        let result = match off {
            Off::Take(name, sort) => write!(text, " ? {name} :: {}", sort.name()),
            Off::Give(v) => write!(text, " ! {}", val_text(v)),
        };
        result.expect("text");
        text
    })
}

/// `A ! 1 | B ? x`
fn communication_text(on: &[(String, Vec<Off>)]) -> String {
    let one = |(chan, offs): &(String, Vec<Off>)| format!("{chan}{}", offs_text(offs));
    on.iter().map(one).collect::<Vec<_>>().join(" | ")
}

fn text(b: &Beh) -> String {
    match b {
        Beh::Stop => "STOP".into(),
        Beh::Act(on, guard, next) => {
            let guard = guard.as_ref().map_or(String::new(), |g| format!(" [[ {} ]]", cond_text(g)));
            format!("{}{guard} >-> ({})", communication_text(on), text(next))
        }
        Beh::Guard(c, next) => format!("[[ {} ]] =>> ({})", cond_text(c), text(next)),
        Beh::Choice(a, b) => format!("({}) ## ({})", text(a), text(b)),
        Beh::Par(None, a, b) => format!("({}) || ({})", text(a), text(b)),
        Beh::Par(Some(sync), a, b) if sync.is_empty() => format!("({}) ||| ({})", text(a), text(b)),
        Beh::Par(Some(sync), a, b) => format!("({}) |[ {} ]| ({})", text(a), sync.join(", "), text(b)),
        Beh::Enable(a, offs, b) => format!("({}) >>> ACCEPT{} IN {} NI", text(a), offs_text(offs), text(b)),
        Beh::Disable(a, b) => format!("({}) [>> ({})", text(a), text(b)),
        Beh::Interrupt(a, b) => format!("({}) [>< ({})", text(a), text(b)),
        Beh::Hide(chan, sorts, body) => {
            let sorts: Vec<&str> = sorts.iter().map(|sort| sort.name()).collect();
            let sorts = if sorts.is_empty() { String::new() } else { format!(" :: {}", sorts.join(" # ")) };
            format!("HIDE [ {chan}{sorts} ] IN {} NI", text(body))
        }
        Beh::Let(name, v, body) => format!("LET {name} = {} IN {} NI", val_text(v), text(body)),
        Beh::Call(proc, args) => {
            let args: Vec<String> = args.iter().map(|v| format!("same({})", val_text(v))).collect();
            format!("p [A, B, C, D, E] ({})", parameters(*proc, [&args[0], &args[1], "True"]).join(", "))
        }
    }
}

/// The parameters of a process. All processes have one name, so these say which one is meant.
fn parameters(proc: usize, [number, truth, more]: [&str; 3]) -> Vec<&str> {
    match proc {
        0 => vec![number, truth],
        1 => vec![truth, number],
        _ => vec![number, truth, more],
    }
}

pub(super) fn whole_text(procs: &[Proc], model: &Beh) -> String {
    let heading = "A :: Int; B :: Bool; C; D :: Int # Bool; E :: Int";
    let mut all = format!("CHANDEF Chans ::= {heading} ENDDEF\n");
    for sort in ["Int", "Bool"] {
        writeln!(all, "FUNCDEF same (it :: {sort}) :: {sort} ::= it ENDDEF").expect("text");
    }
    for (at, proc) in procs.iter().enumerate() {
        let exit = if proc.exits { "EXIT Int " } else { "" };
        let body = text(&proc.body);
        let params = parameters(at, ["x :: Int", "b :: Bool", "more :: Bool"]).join("; ");
        writeln!(all, "PROCDEF p [ {heading} ] ({params}) {exit}::=\n  {body}\nENDDEF").expect("text");
    }
    write!(all, "MODELDEF M ::= CHAN IN A, B CHAN OUT C, D, E BEHAVIOUR\n  {}\nENDDEF\n", text(model))
        .expect("text");
    all
}

// Comparison.
