/** Any time zone by name: moments are then written in it everywhere on the page, in this browser. */
import { useState } from 'react';
import { now } from '../clock.ts';
import { Field } from '../parts/field.tsx';
import { Modal } from '../parts/modal.tsx';
import { exactTime } from '../words/times.ts';
import { isZone, setZone, useZone } from '../zone.ts';

export const ZoneDialog = ({ onClose }: { onClose: () => void }) => {
  const [zone, type] = useState(useZone());
  const good = zone.trim() !== '' && isZone(zone.trim());
  return (
    <Modal title="Times in" onClose={onClose}>
      <form
        className="form"
        onSubmit={(e) => {
          e.preventDefault();
          if (!good) return;
          setZone(zone.trim());
          onClose();
        }}
      >
        <Field
          label="Time zone"
          hint={good ? `Now: ${exactTime(now(), zone.trim())}` : undefined}
          wrong={good ? undefined : 'Not a zone that this browser knows: Europe/Berlin, America/New_York, UTC.'}
        >
          {(input) => (
            <input {...input} list="zones" autoComplete="off" value={zone} onChange={(e) => type(e.target.value)} />
          )}
        </Field>
        <datalist id="zones">
          {Intl.supportedValuesOf('timeZone').map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div className="dialog-actions">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button type="submit" className="main" disabled={!good}>
            Set
          </button>
        </div>
      </form>
    </Modal>
  );
};
