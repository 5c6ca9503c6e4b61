// node client/build.mjs          dist/extension.js, the licences of what it holds, and the wheel of the server
// node client/build.mjs --tests  out/*.test.js, for Node's test runner
import * as esbuild from 'esbuild';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };

if (process.argv.includes('--tests')) {
  const out = path.join(root, 'out');
  fs.rmSync(out, { recursive: true, force: true });
  const tests = fs.readdirSync(path.join(root, 'client/test')).filter((name) => name.endsWith('.test.ts'));
  const entryPoints = tests.map((name) => `client/test/${name}`);
  const fake = (name) => path.join(root, 'client/test/fakes', name);
  const alias = { vscode: fake('vscode.ts'), 'vscode-languageclient/node': fake('languageclient.ts') };
  await esbuild.build({ ...common, entryPoints, outdir: out, packages: 'external', sourcemap: 'inline', alias });
} else {
  const outfile = path.join(root, 'dist/extension.js');
  const options = { ...common, entryPoints: ['client/src/extension.ts'], outfile, external: ['vscode'], minify: true, metafile: true };
  const { metafile } = await esbuild.build(options);
  fs.writeFileSync(path.join(root, 'dist/LICENSES.txt'), licenses(Object.keys(metafile.inputs)));
  wheel(path.join(root, 'dist'));
}

/** Build the wheel from which the extension makes an environment for the server, with the Python that has hatchling. */
function wheel(folder) {
  for (const old of fs.readdirSync(folder)) if (old.endsWith('.whl')) fs.rmSync(path.join(folder, old));
  const environment = ['.venv/bin/python', '.venv/Scripts/python.exe'].map((name) => path.join(root, name));
  const python = process.env.PYTHON ?? environment.find((name) => fs.existsSync(name)) ?? 'python3';
  try {
    execFileSync(python, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', folder], { cwd: root, stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${python} cannot build the wheel; run 'make setup', or set PYTHON to one that has hatchling\n${error.stderr ?? error}`);
  }
}

/** The licence texts of the packages whose files are in the bundle. */
function licenses(inputs) {
  const packages = new Set(inputs.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean));
  return [...packages].sort().map((folder) => {
    const at = path.join(root, folder);
    const name = fs.readdirSync(at).find((file) => /^licen[cs]e/i.test(file));
    if (!name) throw new Error(`${folder} has no licence file`);
    const { name: title, version } = JSON.parse(fs.readFileSync(path.join(at, 'package.json'), 'utf8'));
    return `${title} ${version}\n\n${fs.readFileSync(path.join(at, name), 'utf8').trim()}\n`;
  }).join(`\n${'-'.repeat(80)}\n\n`);
}
