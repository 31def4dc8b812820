//! Loads models and prints what the front end finds: `cargo run --example load -- FILE...`.
use ioxide_lang::{Options, load};
use ioxide_model::source::Sources;

fn main() {
    for path in std::env::args().skip(1) {
        let mut sources = Sources::new();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let file = sources.add(path.clone(), text);
        let loaded = load(&sources, file, &Options::default());
        for d in &loaded.diagnostics {
            if std::env::var("FMT").is_ok() {
                continue;
            }
            let at = sources.line_column(d.span);
            println!(
                "{path}:{}:{} {} {} [{}] {:?}",
                at.line,
                at.column,
                d.code.id(),
                d.message,
                d.caret,
                d.helps
            );
        }
        if std::env::var("FMT").is_ok() {
            match ioxide_lang::format(&sources, file) {
                Ok(t) => print!("{t}"),
                Err(e) => println!("{e:?}"),
            }
            continue;
        }
        if let Some(model) = loaded.model {
            println!(
                "{path}: {} locations {} switches {} goals",
                model.sts.locations.len(),
                model.sts.switches.len(),
                model.sts.goals.len()
            );
        }
    }
}
