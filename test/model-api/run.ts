/** The scripted provider by hand: `node test/model-api/run.ts [mode] [port]`, then ANTHROPIC_BASE_URL=http://127.0.0.1:4010. */
import { startModelApi } from './server.ts';

const [mode = 'ok', port = '4010'] = process.argv.slice(2);
const api = await startModelApi({ mode, port: Number(port) });
console.log(`${api.url} answers in mode ${mode}`);
