/** The alerts that jobs have published. */
package io.lifeline.console.alerts;
