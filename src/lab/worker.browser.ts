/** The lab worker of the page: commands in, events out. */
import { Lab } from './lab.ts';
import { browserPlatform } from './platform.browser.ts';
import type { Command, LabEvent } from './protocol.ts';

const port = self as unknown as { postMessage(event: LabEvent): void; onmessage: ((message: MessageEvent<Command>) => void) | null };

const lab = new Lab(browserPlatform, (event) => { port.postMessage(event); });
port.onmessage = ({ data }) => { void lab.handle(data); };
