// Requests to the service. The key, where one is needed, is kept by this tab alone.
const KEY = "listwright-key";
const dialog = document.getElementById("ask");
const input = document.getElementById("key");
const wrong = document.getElementById("ask-wrong");
const forget = document.getElementById("forget");
let asking = null;

/** What the service refused, in words. */
export class Refused extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** The JSON of a route; asks for a key where one is needed. */
export async function call(path, content) {
  return (await answered(path, content)).json();
}

/** A file that a route gives. */
export async function download(path, content) {
  return (await answered(path, content)).blob();
}

async function answered(path, content) {
  const key = sessionStorage.getItem(KEY);
  const answer = await send(path, content, key);
  if (answer.ok) return answer;
  if (answer.status === 401) {
    await askForKey(key ? "The service does not know this key." : "");
    return answered(path, content);
  }
  throw new Refused(await inWords(answer), answer.status);
}

async function send(path, content, key) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const post = content && { method: "POST", body: JSON.stringify(content) };
  if (content) headers["Content-Type"] = "application/json";
  try {
    return await fetch(`.${path}`, { headers, ...post }); // below the path that a proxy may put the service under
  } catch {
    throw new Refused("The service cannot be reached. See whether it is running, and try again.");
  }
}

async function inWords(answer) {
  const told = await answer.json().catch(() => ({}));
  const { message = `The service answered ${answer.status}.`, field = null } = told.error || {};
  const wait = answer.headers.get("Retry-After");
  return (field ? `${field}: ${message}` : message) + (wait ? ` Wait ${wait} s.` : "");
}

/** One dialog, however many requests wait for it. */
export function askForKey(why) {
  asking ??= new Promise((resolve, reject) => {
    sessionStorage.removeItem(KEY);
    wrong.textContent = why;
    wrong.hidden = !why;
    input.value = "";
    dialog.onclose = () => {
      asking = null;
      if (dialog.returnValue !== "use") return reject(new Refused("Without a key there is nothing to see here.", 401));
      sessionStorage.setItem(KEY, input.value.trim());
      input.value = "";
      showForget();
      resolve();
    };
    dialog.returnValue = "";
    showForget();
    dialog.showModal();
  });
  return asking;
}

function showForget() {
  forget.hidden = !sessionStorage.getItem(KEY);
}

document.getElementById("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  dialog.close("use");
});
document.getElementById("ask-cancel").addEventListener("click", () => dialog.close(""));
forget.addEventListener("click", () => {
  sessionStorage.removeItem(KEY);
  location.reload();
});
showForget();
