// Changes the text of a memory, or the tags of an entry: what the API lets a key change.

import type { models } from "scrubjay";
import { useId, useState } from "preact/hooks";

import { client, may } from "../connection.js";
import { recordOf, textOf } from "../items/source.js";
import { Confirm } from "../parts/dialog.js";

interface Change {
  label: string;
  value: string;
  save: (value: string) => Promise<unknown>;
}

function changeOf(source: models.SourceItem): Change | null {
  const record = recordOf(source);
  const id = Number(record["id"]);
  switch (source.handle.split(":", 1)[0]) {
    case "own":
    case "peer":
      return { label: "Text", value: textOf(source), save: (content) => client().agentMemory.edit({ memory_id: id, content }) };
    case "memory":
      return { label: "Text", value: textOf(source), save: (content) => client().memory.edit({ memory_id: id, content }) };
    case "cache": {
      const tags = Array.isArray(record["tags"]) ? record["tags"].map(String) : [];
      const save = (value: string) => client().cache.editTags({ entry_id: id, tags: value.split(/[\s,]+/).filter(Boolean) });
      return { label: "Tags, with spaces between them", value: tags.join(" "), save };
    }
    default:
      return null;
  }
}

export function Edit({ source, onEdited }: { source: models.SourceItem; onEdited: () => void }) {
  const [editing, setEditing] = useState(false);
  const change = changeOf(source);
  if (!may("write") || change === null) return null;
  return (
    <>
      <button type="button" onClick={() => setEditing(true)}>
        Edit
      </button>
      {editing && <Editor change={change} handle={source.handle} onEdited={onEdited} onClose={() => setEditing(false)} />}
    </>
  );
}

function Editor({ change, handle, onEdited, onClose }: { change: Change; handle: string; onEdited: () => void; onClose: () => void }) {
  const [value, setValue] = useState(change.value);
  const id = useId();
  return (
    <Confirm title={`Edit ${handle}`} action="Save" onConfirm={() => change.save(value).then(onEdited)} onClose={onClose}>
      <div class="field">
        <label for={id}>{change.label}</label>
        <textarea id={id} dir="auto" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      </div>
    </Confirm>
  );
}
