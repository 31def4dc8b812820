#!/usr/bin/env python3
"""Packs the extension into a `.vsix`, which is a zip file with a manifest: `package.py [--out FILE]`.

The libraries it needs are fetched with `npm ci`. The same files give the same bytes.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from xml.sax.saxutils import escape, quoteattr

HERE = pathlib.Path(__file__).resolve().parent
FILES = ["package.json", "README.md", "language-configuration.json", "syntaxes", "src"]
TYPES = {
    "json": "application/json", "js": "application/javascript", "md": "text/markdown", "txt": "text/plain",
    "ts": "text/plain", "map": "application/json", "mjs": "application/javascript", "vsixmanifest": "text/xml",
}


def manifest(about):
    """The manifest of the package."""
    identity = " ".join([
        f"Id={quoteattr(about['name'])}", f"Version={quoteattr(about['version'])}",
        f"Publisher={quoteattr(about['publisher'])}", 'Language="en-US"',
    ])
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity {identity}/>
    <DisplayName>{escape(about['displayName'])}</DisplayName>
    <Description xml:space="preserve">{escape(about['description'])}</Description>
    <Categories>{escape(','.join(about['categories']))}</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(about['engines']['vscode'])}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def content_types(names):
    """The kinds of the files in the package."""
    found = sorted({name.rsplit(".", 1)[-1] for name in names if "." in name.rsplit("/", 1)[-1]})
    defaults = [
        f'<Default Extension=".{kind}" ContentType="{TYPES.get(kind, "application/octet-stream")}"/>'
        for kind in found
    ]
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    head += '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    return head + "".join(defaults) + "</Types>\n"


def libraries(folder):
    """Fetches the libraries of the extension into `folder`."""
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(HERE / name, folder)
    subprocess.run(
        ["npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True
    )


def wanted(path):
    """Whether a file of a library is of use in the package."""
    return not path.name.startswith(".") and path.suffix not in {".map", ".ts"}


def packed(out):
    """Writes the package and says what is in it."""
    about = json.loads((HERE / "package.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        libraries(place)
        files = {"extension/LICENSE.txt": (HERE / "../../LICENSE-MIT").read_bytes()}
        for name in FILES:
            top = HERE / name
            for path in [top] if top.is_file() else sorted(top.rglob("*")):
                if path.is_file():
                    files[f"extension/{path.relative_to(HERE).as_posix()}"] = path.read_bytes()
        for path in sorted((place / "node_modules").rglob("*")):
            if path.is_file() and wanted(path):
                files[f"extension/{path.relative_to(place).as_posix()}"] = path.read_bytes()
    files["extension.vsixmanifest"] = manifest(about).encode()
    files["[Content_Types].xml"] = content_types(files).encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name in sorted(files):
            package.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), files[name], zipfile.ZIP_DEFLATED)
    return len(files)


def main():
    about = json.loads((HERE / "package.json").read_text())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=f"{about['name']}-{about['version']}.vsix", help="where the package goes")
    args = parser.parse_args()
    if shutil.which("npm") is None:
        sys.exit("npm is missing: it comes with Node, https://nodejs.org")
    count = packed(args.out)
    print(f"{args.out}: {count} files")


if __name__ == "__main__":
    main()
