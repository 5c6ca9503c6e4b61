import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { atLeast, MINIMUM_SERVER } from '../src/discovery';

const root = path.dirname(__dirname); // the tests are bundled into out/
const read = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  engines: { vscode: string };
  devDependencies: Record<string, string>;
  files: string[];
  icon: string;
  homepage: string;
  repository: { url: string };
  bugs: { url: string };
  contributes: {
    commands: { command: string }[];
    walkthroughs: { steps: { id: string; description: string; media: { markdown: string } }[] }[];
    configuration: { properties: Record<string, Record<string, unknown>> };
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
};
const properties = manifest.contributes.configuration.properties;

test('there is one version number', () => {
  const version = /^__version__ = "(.+)"$/m.exec(read('server/loaderlint/__init__.py'))?.[1] ?? '';
  assert.match(version, /^\d+\.\d+\.\d+$/);
  const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: { '': { version: string } } };
  const others = { manifest: manifest.version, lock: lock.version, locked: lock.packages[''].version };
  assert.deepEqual(others, { manifest: version, lock: version, locked: version });
  assert.match(read('pyproject.toml'), /^dynamic = \["version"\]$/m);
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b`, 'm'));
  assert.ok(!atLeast(MINIMUM_SERVER, version) || MINIMUM_SERVER === version, 'the client needs a server that there is not');
});

test('the types are those of the oldest editor that is supported', () => {
  assert.equal(`^${manifest.devDependencies['@types/vscode']}`, manifest.engines.vscode);
});

test('every setting of pyproject.toml is an editor setting, unset by default, and of one type', () => {
  const table = /^KEYS: .*\{\n((?: .*\n)+)\}/m.exec(read('server/loaderlint/settings/settings.py'))?.[1] ?? '';
  const keys = [...table.matchAll(/"([a-z-]+)":/g)].map((match) => match[1] ?? '');
  assert.ok(keys.includes('target-torch'), 'the table of settings was not found');
  const camel = keys.map((key) => `loaderlint.${key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())}`);
  const own = ['enable', 'diagnosticMode', 'interpreter', 'server.path', 'server.args', 'logLevel', 'auditLens', 'trace.server'];
  assert.deepEqual(Object.keys(properties).sort(), [...camel, ...own.map((name) => `loaderlint.${name}`)].sort());
  const unset: Record<string, unknown> = { array: [], object: {}, string: '' };
  for (const [name, property] of Object.entries(properties)) {
    if (camel.includes(name)) assert.deepEqual(property['default'], unset[String(property['type'])], name);
    assert.ok(property['markdownDescription'], name);
  }
});

test('the settings that VS Code cannot show as a form are few', () => {
  // A form takes a boolean, a text, a choice, a list of texts or choices, and a table of texts or choices.
  const simple = (one: Record<string, unknown> | undefined): boolean => one?.['type'] === 'string';
  const shown = ([, { type, items, additionalProperties }]: [string, Record<string, unknown>]): boolean =>
    type === 'boolean' || type === 'string' ||
    (type === 'array' && simple(items as Record<string, unknown>)) ||
    (type === 'object' && simple(additionalProperties as Record<string, unknown>));
  const others = Object.entries(properties).filter((one) => !shown(one)).map(([name]) => name);
  assert.deepEqual(others, ['loaderlint.perFileIgnores', 'loaderlint.loaders']);
});

test('a workspace that is not trusted cannot choose the program that is run', () => {
  const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  assert.deepEqual(restrictedConfigurations, ['loaderlint.server.path', 'loaderlint.server.args', 'loaderlint.interpreter']);
});

test('the pages of the walkthrough are there, with their pictures and commands', () => {
  const own = manifest.contributes.commands.map(({ command }) => command);
  const settings = Object.keys(properties);
  for (const { id, description, media } of manifest.contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    const page = read(media.markdown);
    for (const [, image = ''] of page.matchAll(/!\[.{20,}\]\((.*)\)/g)) {
      const file = path.relative(root, path.resolve(root, path.dirname(media.markdown), image)).replaceAll('\\', '/');
      assert.ok(fs.existsSync(path.join(root, file)) && manifest.files.includes(file), `${id}: ${file}`);
      assert.ok(fs.statSync(path.join(root, file)).size < 100_000, `${file} is heavy`);
    }
    const text = description + page;
    for (const [name] of text.matchAll(/(?<=command:)loaderlint\.\w+/g)) assert.ok(own.includes(name), `${id}: ${name}`);
    for (const [name] of text.matchAll(/(?<=%22)[\w.]+(?=%22)/g)) assert.ok(settings.includes(name), `${id}: ${name}`);
  }
});

test('the client is thin', () => {
  const sources = fs.readdirSync(path.join(root, 'client/src')).map((name) => read(`client/src/${name}`)).join('\n');
  const code = sources.split('\n').filter((line) => line.trim() && !/^\s*(\/\/|\/\*|\*)/.test(line));
  assert.ok(code.length < 720, `${code.length} lines of code`);
});

test('the marketplace shows an icon, links, and pictures that are not in the VSIX', () => {
  const icon = fs.readFileSync(path.join(root, manifest.icon));
  assert.deepEqual([icon.toString('latin1', 1, 4), icon.readUInt32BE(16), icon.readUInt32BE(20)], ['PNG', 256, 256]);
  const repository = manifest.repository.url.replace(/\.git$/, '');
  assert.match(repository, /^https:\/\/github\.com\/[\w-]+\/[\w-]+$/);
  assert.equal(manifest.bugs.url, `${repository}/issues`);
  assert.match(manifest.homepage, /^https:/);
});

test('every command of the manifest is registered', () => {
  const source = read('client/src/extension.ts') + read('client/src/commands.ts');
  const registered = [...source.matchAll(/(?:registerCommand|command)\('(loaderlint\.\w+)'/g)].map((match) => match[1]);
  assert.deepEqual(registered.sort(), manifest.contributes.commands.map(({ command }) => command).sort());
});

test('the VSIX holds what the extension needs, and nothing else', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loaderlint-vsix-'));
  try {
    const vsix = path.join(folder, 'loaderlint.vsix');
    execFileSync('npm', ['run', '--silent', 'package', '--', '--out', vsix], { cwd: root, shell: true, stdio: 'pipe' });
    const archive = archived(fs.readFileSync(vsix));
    const readme = archive.get('extension/readme.md')!();
    const pictures = [...readme.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map((match) => match[1]);
    assert.ok(pictures.length > 0 && pictures.every((link) => /^https:.*\.png$/.test(link!)), String(pictures));
    assert.deepEqual([...archive.keys()].sort(), [
      '[Content_Types].xml',
      'extension.vsixmanifest',
      'extension/LICENSE.txt',
      'extension/changelog.md',
      ...['finding', 'fix', 'server', 'workers', 'workspace'].map((name) => `extension/client/walkthrough/${name}.md`),
      'extension/dist/LICENSES.txt',
      'extension/dist/extension.js',
      `extension/dist/loaderlint-${manifest.version}-py3-none-any.whl`,
      'extension/docs/images/icon.png',
      ...['finding', 'fix', 'workers', 'workspace'].map((name) => `extension/docs/images/vscode-${name}.png`),
      'extension/package.json',
      'extension/readme.md',
    ]);
    assert.ok(fs.statSync(vsix).size < 4_500_000, 'the VSIX has grown');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

/** The files in a zip file, by its central directory: their names, and what reads their texts. */
function archived(zip: Buffer): Map<string, () => string> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  const files = new Map<string, () => string>();
  for (let at = zip.readUInt32LE(end + 16), left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [number, number, number];
    const [size, local] = [zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)];
    files.set(zip.toString('utf8', at + 46, at + 46 + name), () => {
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(start, start + size)).toString('utf8');
    });
    at += 46 + name + extra + comment;
  }
  return files;
}
