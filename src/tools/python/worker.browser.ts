/** Python's worker in a page. */
import type { Command } from './protocol.ts';
import { serve } from './interpreter.ts';

declare const self: DedicatedWorkerGlobalScope;

const handle = serve(self.postMessage.bind(self));
self.addEventListener('message', (event: MessageEvent<Command>) => { handle(event.data); });
