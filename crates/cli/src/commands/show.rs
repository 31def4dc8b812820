//! `ioxide show`: the model as text or picture.

use std::io::{self, Write};

use ioxide_args::{ShowArgs, ShowFormat};
use ioxide_report::graph::PictureGraph;
use ioxide_report::{dot, json, mermaid, svg, text};

use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::load;

/// Writes the model in the wanted format.
pub fn run(args: &ShowArgs) -> Result<ExitStatus, CliError> {
    let (_, model) = load::load_model(&args.model.file, &args.model.settings())?;
    let halt = limit::halt(&args.limit);
    let _stage = limit::stage("laying out the model");
    let shown = limit::run_within(&halt, || match args.format {
        ShowFormat::Text => text::model_text(&model),
        ShowFormat::Json => json::model_json(&model),
        ShowFormat::Dot => dot::write_dot(&PictureGraph::from_model(&model)),
        ShowFormat::Mermaid => mermaid::write_mermaid(&PictureGraph::from_model(&model)),
        ShowFormat::Svg => svg::draw_svg(&PictureGraph::from_model(&model), svg::SvgConfig::default()),
    });
    let mut out = io::stdout().lock();
    out.write_all(shown.as_bytes())?;
    if !shown.ends_with('\n') {
        writeln!(out)?;
    }
    Ok(ExitStatus::Success)
}
