/** A server in front of the one that Playwright starts: it can be stopped, lose a file, break one, or have a newer build. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a file on its way; `undefined` breaks the connection. */
export type Change = (content: Buffer) => Buffer | undefined;

export interface FlakyServer {
  readonly address: string;
  /** By path below the folder of the page. */
  readonly changes: Map<string, Change>;
  /** Paths that were asked for. */
  readonly asked: string[];
  stop(): Promise<void>;
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** @param behind address of the server that has the files */
export async function flakyServer(behind: string): Promise<FlakyServer> {
  const changes = new Map<string, Change>();
  const asked: string[] = [];
  const server: Server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '/').slice(1).split('?', 1)[0] ?? '';
    asked.push(path);
    // Whole answers, so that a change is of the content.
    const { 'if-none-match': _, ...headers } = incoming.headers;
    const onward = request(new URL(incoming.url ?? '/', behind), { method: incoming.method, headers: { ...headers, 'accept-encoding': 'identity' } }, (answer) => {
      void bodyOf(answer).then((content) => {
        const body = (changes.get(path) ?? ((same) => same))(content);
        if (body === undefined) return outgoing.destroy();
        outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, 'content-length': body.length });
        return outgoing.end(incoming.method === 'HEAD' ? undefined : body);
      });
    });
    onward.on('error', () => { outgoing.destroy(); });
    onward.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    changes,
    asked,
    stop: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
