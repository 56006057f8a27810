/** What holds for the whole fleet: its limits, who is notified, copies of the store, and the switches for an emergency. */

import { useMe } from '../parts/me.ts';
import { PageHead } from '../parts/page-head.tsx';
import { BackupSection } from '../set-up/backups.tsx';
import { EmergencySection } from '../set-up/emergency.tsx';
import { LimitsSection } from '../set-up/fleet-limits.tsx';
import { NotifySection } from '../set-up/notify.tsx';

export const Page = () => {
  const { role } = useMe();
  return (
    <>
      <PageHead title="Settings" sub="a change acts at once and ends nothing that runs" />
      <div className="columns">
        <div className="column">
          <LimitsSection />
          {role !== 'viewer' && <NotifySection />}
          {role === 'owner' && <BackupSection />}
        </div>
        {role !== 'viewer' && (
          <aside className="column" aria-label="In an emergency">
            <EmergencySection />
          </aside>
        )}
      </div>
    </>
  );
};
