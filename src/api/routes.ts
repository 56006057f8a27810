/** Every route module, in the order they are registered. A module that is not here does not exist. */
import type { RouteModule } from './route.ts';
import { healthRoutes } from './routes/health.ts';
import { workRoutes } from './routes/work.ts';

export const routes: readonly RouteModule[] = [healthRoutes, workRoutes];
