// Light and dark: as the system says, until a person chooses.

import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const STORED = "scrubjay.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const chosen = signal<Theme | null>(localStorage.getItem(STORED) as Theme | null);

function apply(): void {
  if (chosen.value === null) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen.value;
}

apply();

export function theme(): Theme {
  return chosen.value ?? (system.matches ? "dark" : "light");
}

export function ThemeButton() {
  const other = theme() === "dark" ? "light" : "dark";
  const choose = () => {
    chosen.value = other;
    localStorage.setItem(STORED, other);
    apply();
  };
  return (
    <button type="button" class="quiet" onClick={choose}>
      {other === "dark" ? "Dark" : "Light"}
    </button>
  );
}
