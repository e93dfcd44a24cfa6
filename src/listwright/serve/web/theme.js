"use strict";
// Light or dark: as the system says until the button says otherwise. Loaded first, so that nothing flashes.
const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
}

function themed() {
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  document.dispatchEvent(new Event("themed"));
}

if (localStorage.getItem("listwright-theme")) root.dataset.theme = localStorage.getItem("listwright-theme");
system.addEventListener("change", themed);
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("listwright-theme", root.dataset.theme);
    themed();
  });
  themed();
});
