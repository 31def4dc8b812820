//! `ioxide show`: the model as text or picture.

use std::io::{self, Write};

use ioxide_report::graph::PictureGraph;
use ioxide_report::{dot, json, mermaid, svg, text};

use crate::args::{ShowArgs, ShowFormat};
use crate::exit::{EarlyStop, ExitStatus};
use crate::limit;
use crate::load;

/// Writes the model in the wanted format.
pub fn run(args: &ShowArgs) -> Result<ExitStatus, EarlyStop> {
    let (_, model) = load::model(&args.model.file, &args.model.settings())?;
    let halt = limit::halt(&args.limit);
    let _stage = limit::stage("laying out the model");
    let shown = limit::within(&halt, || match args.format {
        ShowFormat::Text => text::text(&model),
        ShowFormat::Json => json::json(&model),
        ShowFormat::Dot => dot::dot(&PictureGraph::of(&model)),
        ShowFormat::Mermaid => mermaid::mermaid(&PictureGraph::of(&model)),
        ShowFormat::Svg => svg::svg(&PictureGraph::of(&model), svg::SvgConfig::default()),
    });
    let mut out = io::stdout().lock();
    out.write_all(shown.as_bytes())?;
    if !shown.ends_with('\n') {
        writeln!(out)?;
    }
    Ok(ExitStatus::Success)
}
