//! `ioxide show`: the model as text or picture.

use std::io::{self, Write};

use ioxide_report::graph::Graph;
use ioxide_report::{dot, json, mermaid, svg, text};

use crate::args::{Format, Show};
use crate::exit::{ExitStatus, Stop};
use crate::limit;
use crate::load;

/// Writes the model in the wanted format.
pub fn run(args: &Show) -> Result<ExitStatus, Stop> {
    let (_, model) = load::model(&args.model.file, &args.model.settings())?;
    let halt = limit::halt(&args.limit);
    let _stage = limit::stage("laying out the model");
    let shown = limit::within(&halt, || match args.format {
        Format::Text => text::text(&model),
        Format::Json => json::json(&model),
        Format::Dot => dot::dot(&Graph::of(&model)),
        Format::Mermaid => mermaid::mermaid(&Graph::of(&model)),
        Format::Svg => svg::svg(&Graph::of(&model), svg::SvgConfig::default()),
    });
    let mut out = io::stdout().lock();
    out.write_all(shown.as_bytes())?;
    if !shown.ends_with('\n') {
        writeln!(out)?;
    }
    Ok(ExitStatus::Success)
}
