/** The banner: the one thing to know before reading any list, in words; nothing when nothing is held. */
import { Command } from '../parts/command.tsx';
import { bannerOf } from '../words/reasons.ts';
import { usageOf, useAgents, useConnectedRunners, useIncidents, useLimits } from './data.ts';

export const Held = () => {
  const { data: limits } = useLimits();
  const agents = useAgents();
  const runners = useConnectedRunners();
  const incidents = useIncidents();
  const banner =
    limits === undefined
      ? null
      : bannerOf(
          limits,
          (agents.data ?? []).map(usageOf),
          runners?.length ?? null,
          incidents.open.map((i) => i.provider),
        );
  if (banner === null) return null;
  return (
    <div className="banner" data-tone={banner.tone} role="status">
      <span>{banner.text}</span>
      {banner.command !== undefined && <Command text={banner.command} />}
    </div>
  );
};
