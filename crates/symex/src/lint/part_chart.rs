//! A path of a system drawn by part: a row for every part, a column for every step.

use ioxide_model::compose::Composition;
use ioxide_model::sts::{Sts, SwitchId};
use ioxide_model::value::Value;

use crate::cx::Ctx;
use crate::state::SymState;

/// The greatest number of characters of a line, so that it fits on most terminals. Longer paths continue below.
const MAX_WIDTH: usize = 100;

/// Draws `path` by part, with the places in which it ends.
pub(super) fn draw_parts(
    sts: &Sts,
    composition: &Composition,
    state: &SymState,
    path: &[SwitchId],
    cx: &Ctx<'_>,
) -> String {
    let place = |part: &ioxide_model::compose::PartSystem| {
        let value = cx.pool.as_value(state.store.get(sts, part.control?)?)?;
        let Value::Data(value) = value else { return None };
        part.places.get(value.ctor as usize).map(ToString::to_string)
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let head = (1..=path.len()).map(|step| step.to_string());
    rows.push(std::iter::once("step".to_owned()).chain(head).chain(["then in".to_owned()]).collect());
    for (id, part) in composition.parts.iter_enumerated() {
        let cell = |switch: &SwitchId| {
            let moves = composition.moves.get(&sts.switches[*switch].label).into_iter().flatten();
            let own = moves.into_iter().find(|step| step.part == id);
            own.map_or_else(|| "·".to_owned(), |step| step.switch.to_string())
        };
        let cells = path.iter().map(cell);
        let end = place(part).unwrap_or_else(|| "-".to_owned());
        rows.push(std::iter::once(part.name.to_string()).chain(cells).chain([end]).collect());
    }
    align_rows(&rows)
}

/// Returns the rows as columns of equal width; columns that do not fit continue in further blocks, each with the first
/// column.
fn align_rows(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0) + 2;
    let n_columns = rows.first().map_or(0, Vec::len);
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
    let mut used = width(0);
    for column in 1..n_columns {
        let block = blocks.last_mut().expect("there is a block");
        if !block.is_empty() && used + width(column) > MAX_WIDTH {
            used = width(0);
            blocks.push(vec![column]);
        } else {
            block.push(column);
        }
        used += width(column);
    }
    let line = |row: &Vec<String>, block: &[usize]| {
        let cells = std::iter::once(&0).chain(block);
        let text: String = cells.map(|&column| format!("{:<1$}", row[column], width(column))).collect();
        text.trim_end().to_owned()
    };
    let texts =
        blocks.iter().map(|block| rows.iter().map(|row| line(row, block)).collect::<Vec<_>>().join("\n"));
    format!("by part:\n{}", texts.collect::<Vec<_>>().join("\n\n"))
}
