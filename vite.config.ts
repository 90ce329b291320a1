import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { ISOLATION } from './scripts/serve.mjs';
import { offlinePack } from './src/ui/offline/build.node.ts';
import { formulasAsMathml } from './src/ui/views/reference/mathml.node.ts';

export default defineConfig({
  // Relative addresses: the build works from any folder of any server.
  base: './',
  plugins: [react(), formulasAsMathml(), offlinePack()],
  worker: { format: 'es' },
  build: { target: 'es2023', chunkSizeWarningLimit: 2000 },
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  optimizeDeps: { exclude: ['pyodide', '@jax-js/jax'] },
});
