/**
 * Builds the page into dist/web, which the server serves. Nothing is inlined, neither script nor style nor asset: the
 * server's policy (`default-src 'none'`, own files only) would refuse it.
 */
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), tailwind()],
  publicDir: 'public',
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // Says which chunks the first load takes: a test adds them up.
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
  server: { proxy: Object.fromEntries(['/api', '/token', '/health'].map((p) => [p, 'http://127.0.0.1:8420'])) },
});
