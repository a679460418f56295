ALTER TABLE "payments"."payments" ADD COLUMN "overpaid_refunded_minor" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "won_minor" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "journal_reversed" ON "payments"."journal" USING btree ("reverses","line") WHERE reverses is not null;