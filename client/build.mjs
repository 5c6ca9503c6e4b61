// node client/build.mjs          dist/extension.js and the licences of what it holds
// node client/build.mjs --tests  out/*.test.js, for Node's test runner
import * as esbuild from 'esbuild';
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
  await esbuild.build({ ...common, entryPoints, outdir: out, packages: 'external', sourcemap: 'inline' });
} else {
  const outfile = path.join(root, 'dist/extension.js');
  const options = { ...common, entryPoints: ['client/src/extension.ts'], outfile, external: ['vscode'], minify: true, metafile: true };
  const { metafile } = await esbuild.build(options);
  fs.writeFileSync(path.join(root, 'dist/LICENSES.txt'), licenses(Object.keys(metafile.inputs)));
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
