/** Asks before something that is felt, and names what will happen on the button that does it. */
import { type ReactNode, useState } from 'react';
import { Modal } from './modal.tsx';

/** A button whose action is asked about first. */
export const ConfirmButton = (props: {
  label: ReactNode;
  title: string;
  about: ReactNode;
  action: string;
  danger?: boolean;
  className?: string;
  disabled?: boolean;
  onConfirm: () => void;
}) => {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className={props.className} disabled={props.disabled} onClick={() => setAsking(true)}>
        {props.label}
      </button>
      {asking && (
        <Modal title={props.title} onClose={() => setAsking(false)}>
          {props.about}
          <div className="dialog-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Back
            </button>
            <button
              type="button"
              className={props.danger ? 'danger' : 'main'}
              onClick={() => {
                setAsking(false);
                props.onConfirm();
              }}
            >
              {props.action}
            </button>
          </div>
        </Modal>
      )}
    </>
  );
};
