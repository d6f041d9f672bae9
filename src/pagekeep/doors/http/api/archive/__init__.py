"""Routes of what is kept beside the text: pictures, and the storage that everything takes."""
