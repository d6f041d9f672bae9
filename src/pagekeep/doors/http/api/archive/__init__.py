"""Routes of what is kept beside the text: pictures, copies, versions and changes, and the storage that everything takes."""
