//! Files that are written completely or not at all.
//!
//! What is to stand at a path is written aside, in the same folder, under a name nobody can guess or has linked
//! elsewhere, and put in place in one step once all of it is on the disk. Neither an interruption nor a full
//! disk leaves half of it: what stood there before stays. A link stays a link, and a file that is replaced keeps
//! its mode. What is no file, such as a pipe or `/dev/stdout`, is written to as it is.
//!
//! Records and the journal of `kill` are not written so: they grow line by line, are read up to a line that was
//! cut off, and say themselves where they begin and end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// The readers of a file that was not there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReaders {
    /// All readers that the umask allows.
    Usual,
    /// Its owner alone, since it may hold outputs of a system.
    Owner,
}

/// A file being written aside.
pub struct AsideFile {
    out: AsideOut,
    target: PathBuf,
}

enum AsideOut {
    /// To be renamed.
    File(BufWriter<NamedTempFile>),
    /// A pipe or a device, which has no name to give away.
    Stream(BufWriter<File>),
}

impl AsideFile {
    /// Begins a file that is to stand at `path`.
    ///
    /// # Errors
    /// If nothing can be written beside it, or what stands there cannot be written to.
    pub fn new(path: &Path, readers: FileReaders) -> io::Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        // `/dev/stdout` is a stream even if it leads to a file.
        let is_stream = path.starts_with("/dev") || path.starts_with("/proc");
        let replaced = match OpenOptions::new().write(true).truncate(is_stream).open(&target) {
            Ok(file) if is_stream || !file.metadata()?.is_file() => {
                return Ok(Self { out: AsideOut::Stream(BufWriter::new(file)), target });
            }
            Ok(file) => Some(file.metadata()?.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let aside = create_beside(&target, readers)?;
        if let Some(permissions) = replaced {
            aside.as_file().set_permissions(permissions)?;
        }
        Ok(Self { out: AsideOut::File(BufWriter::new(aside)), target })
    }

    /// Puts it in place.
    ///
    /// # Errors
    /// If the disk does not take all of it, or it cannot be renamed.
    pub fn keep(self) -> io::Result<()> {
        match self.out {
            AsideOut::File(out) => {
                let aside = on_disk(out)?;
                aside.persist(&self.target).map(drop).map_err(|error| error.error)
            }
            AsideOut::Stream(mut out) => out.flush(),
        }
    }
}

impl Write for AsideFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            AsideOut::File(out) => out.write(bytes),
            AsideOut::Stream(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            AsideOut::File(out) => out.flush(),
            AsideOut::Stream(out) => out.flush(),
        }
    }
}

impl Seek for AsideFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.out {
            AsideOut::File(out) => out.seek(to),
            AsideOut::Stream(out) => out.seek(to),
        }
    }
}

/// Puts what `fill` writes at `path`.
///
/// # Errors
/// If `fill` fails, or the file cannot be written.
pub fn write_whole(
    path: &Path,
    readers: FileReaders,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut aside = AsideFile::new(path, readers)?;
    fill(&mut aside)?;
    aside.keep()
}

/// Puts `bytes` at `path`, where nothing may be yet.
///
/// # Errors
/// If there is something at `path`, or the file cannot be written.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = BufWriter::new(create_beside(path, FileReaders::Usual)?);
    out.write_all(bytes)?;
    on_disk(out)?.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// A nameless file in the folder of `target`; it goes away unless it is kept.
fn create_beside(target: &Path, readers: FileReaders) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".ioxide-").suffix(".part");
    if readers == FileReaders::Usual {
        for_all(&mut builder);
    }
    builder.tempfile_in(folder)
}

/// Gives the file the mode that other programs give theirs, less the umask.
#[cfg(unix)]
fn for_all(builder: &mut Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn for_all(_builder: &mut Builder<'_, '_>) {}

fn on_disk(out: BufWriter<NamedTempFile>) -> io::Result<NamedTempFile> {
    let aside = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    aside.as_file().sync_all()?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
        write_whole(path, FileReaders::Usual, |out| out.write_all(bytes))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_was_there_stays_until_the_new_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("suite");
        put(&path, b"old").expect("written");
        let mut aside = AsideFile::new(&path, FileReaders::Usual).expect("begun");
        aside.write_all(&[b'n'; 100_000]).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"old");
        drop(aside);
        assert_eq!(names(folder.path()), ["suite"], "what was not kept is gone");
        put(&path, b"new").expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert_eq!(names(folder.path()), ["suite"]);
    }

    #[test]
    fn what_is_there_is_not_written_over_unasked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model");
        write_new(&path, b"first").expect("written");
        assert_eq!(
            write_new(&path, b"second").expect_err("it is there").kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).expect("there"), b"first");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_are_kept_and_records_are_private() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        AsideFile::new(&file, FileReaders::Owner).and_then(AsideFile::keep).expect("written");
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
        symlink(&file, &link).expect("a link");
        put(&link, b"new").expect("written");
        assert!(link.symlink_metadata().expect("there").is_symlink());
        assert_eq!((fs::read(&file).expect("there"), mode(&file)), (b"new".to_vec(), 0o640));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_written_to_as_it_is() {
        put(Path::new("/dev/null"), b"gone").expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }
}
