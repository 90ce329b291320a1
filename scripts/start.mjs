/**
 * `npm start`: sets up what is missing, builds the page where its sources have changed, and serves it.
 *
 *     npm start -- [--port 4173] [--host 127.0.0.1] [--cert FILE --key FILE]
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMain, ROOT, setUp, SetUpError, timed, whenEnded } from './setup.mjs';
import { listen, staticFiles } from './serve.mjs';

const FIRST_PORT = 4173;
const PORTS_TRIED = 100;

export const DIST = join(ROOT, 'dist');
/** What a build is made from. */
const SOURCES = ['index.html', 'package-lock.json', 'vite.config.ts', 'tsconfig.json', 'src', 'shaders', 'public'];
/** Holds the digest of the sources that the build was made from; Vite removes it when it builds anew. */
const STAMP = join(DIST, '.sources');

/** Builds `dist`, unless it was built from these very sources. @throws SetUpError where the build fails. */
export async function build({ log = console.log } = {}) {
  // Taken before the build: a file that changes in the meantime calls for another one.
  const digest = digestOfSources();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest) return;
  await timed(log, 'Building the page', runVite);
  writeFileSync(STAMP, digest);
}

function digestOfSources() {
  const hash = createHash('sha256');
  const add = (path) => {
    const absolute = join(ROOT, path);
    if (!existsSync(absolute)) return;
    if (statSync(absolute).isDirectory()) {
      for (const name of readdirSync(absolute).sort()) add(`${path}/${name}`);
    } else if (!/\.test\.tsx?$/.test(path)) {
      hash.update(`${path}\0`).update(readFileSync(absolute));
    }
  };
  for (const path of SOURCES) add(path);
  return hash.digest('hex');
}

function runVite() {
  return new Promise((resolve, reject) => {
    const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
    const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new SetUpError('The page could not be built.'));
    });
  });
}

/** Listens on the port asked for, or on the first free one. @throws SetUpError where there is none. */
async function open(handler, { host, port, tls }) {
  const hosts = host === undefined ? ['127.0.0.1', '::1'] : [host];
  const ports = port === undefined ? Array.from({ length: PORTS_TRIED }, (_, i) => FIRST_PORT + i) : [port];
  for (const candidate of ports) {
    const servers = await listen(handler, hosts, candidate, tls).catch((error) => {
      throw new SetUpError(`The server could not start: ${error.message}`);
    });
    if (servers !== undefined) return servers;
  }
  throw new SetUpError(
    port === undefined
      ? `No port from ${FIRST_PORT} to ${FIRST_PORT + PORTS_TRIED - 1} is free.`
      : `Port ${port} is taken. Choose another: npm start -- --port ${port + 1}`,
  );
}

/** Words for a server that other machines can reach. */
function openToOthers(host, scheme, port) {
  const everywhere = host === '0.0.0.0' || host === '::';
  const addresses = everywhere
    ? Object.values(networkInterfaces()).flat().filter((a) => !a.internal && a.family === 'IPv4').map((a) => a.address)
    : [host];
  const lines = addresses.map((address) => `Other machines reach it at ${scheme}://${address}:${port}/`);
  if (scheme === 'http') {
    lines.push(
      'Over plain http, browsers on other machines hide WebGPU and shared memory: the lab then computes on their',
      'processor. Serve https (--cert FILE --key FILE), or run npm start on each machine.',
    );
  }
  return lines;
}

function readPort(text) {
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new SetUpError(`Not a port: ${text}`);
  return port;
}

function readTls({ cert, key }) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new SetUpError('https needs both --cert FILE and --key FILE.');
  for (const file of [cert, key]) if (!existsSync(file)) throw new SetUpError(`No such file: ${file}`);
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

async function main() {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, host: { type: 'string' }, cert: { type: 'string' }, key: { type: 'string' } },
  });
  const { host } = values;
  const port = readPort(values.port ?? process.env.PORT);
  const tls = readTls(values);
  await setUp();
  await build();
  const servers = await open(staticFiles(DIST), { host, port, tls });
  const scheme = tls === undefined ? 'http' : 'https';
  const at = servers[0].address().port;
  const local = host === undefined || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  console.log(`Atelier is at ${scheme}://${local}:${at}/`);
  if (host !== undefined && !['127.0.0.1', '::1', 'localhost'].includes(host)) {
    for (const line of openToOthers(host, scheme, at)) console.log(line);
  }
  whenEnded(() => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });
}

if (isMain(import.meta.url)) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
