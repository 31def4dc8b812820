//! The names in a form, held against those of the model.

use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::term::TermPool;

use super::{BadJsonForm, JsonFormConfig};

/// Fails with the first name that the model does not have, or that stands for something of another kind.
pub(super) fn check_names(config: &JsonFormConfig, pool: &TermPool) -> Result<(), BadJsonForm> {
    let of_kind = |name: &str, kind: DataKind| {
        pool.data_types().map(|(_, data)| data).find(|data| data.kind == kind && *data.name == *name)
    };
    let unknown = |kind, name: &str| BadJsonForm::Unknown { kind, name: name.to_owned() };
    for name in config.closed.iter().chain(&config.text) {
        let record = of_kind(name, DataKind::Record).ok_or_else(|| unknown("record", name))?;
        let is_text = matches!(record.ctors.first().map(|ctor| &*ctor.fields), Some([field]) if field.sort == Sort::Str);
        if config.text.contains(name) && !is_text {
            return Err(BadJsonForm::NotOneField(name.clone(), ", a string"));
        }
    }
    for name in &config.untagged {
        let of = of_kind(name, DataKind::Enum).ok_or_else(|| unknown("enum", name))?;
        if let Some(bad) = of.ctors.iter().find(|ctor| ctor.fields.len() > 1) {
            return Err(BadJsonForm::NotOneField(bad.name.to_string(), " at most"));
        }
    }
    for place in config.absent.iter().chain(&config.null).chain(config.names.iter().map(|(place, _)| place)) {
        let (name, field) = place.split_once('.').unwrap_or((place, ""));
        let record = of_kind(name, DataKind::Record).and_then(|record| record.ctors.first());
        if !record.is_some_and(|record| record.fields.iter().any(|other| *other.name == *field)) {
            return Err(unknown("field of a record", place));
        }
    }
    let has_case = |name: &str| {
        let enums = pool.data_types().map(|(_, data)| data).filter(|data| data.kind == DataKind::Enum);
        enums.flat_map(|data| &data.ctors).any(|ctor| *ctor.name == *name)
    };
    match config.cases.iter().find(|(name, _)| !has_case(name)) {
        Some((name, _)) => Err(unknown("case of an enum", name)),
        None => Ok(()),
    }
}
