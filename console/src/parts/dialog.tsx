// A window above the page that asks before something is done. The browser keeps the focus in it, and Escape closes it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Problem } from "./problem.js";

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks once, does it, and closes; where the service refuses, it says why and stays open. */
export function Confirm({
  title,
  action,
  danger,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** The words on the button that does it. */
  action: string;
  danger?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  const [error, setError] = useState<unknown>();
  const [waiting, setWaiting] = useState(false);
  const confirm = (event: Event) => {
    event.preventDefault();
    setWaiting(true);
    onConfirm().then(onClose, (refused: unknown) => {
      setError(refused);
      setWaiting(false);
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={confirm}>
        {children}
        <Problem error={error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={danger ? "danger" : "main"} disabled={waiting}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
